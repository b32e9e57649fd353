package arrays

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"pawl/internal/collect"
)

// Header is what a .npy file says of its content.
type Header struct {
	// Descr is NumPy's name of the type, such as <f4.
	Descr string
	// Shape has the outermost dimension first; it is empty for a single number.
	Shape []int64

	size, bytes int64 // of an element, and of all of the content
}

// magic starts every .npy file; the version of the format follows in two bytes.
const magic = "\x93NUMPY"

// longestHeader is more than NumPy itself reads without being asked to.
const longestHeader = 1 << 16

// mostDimensions is NumPy's own limit.
const mostDimensions = 64

// readHeader reads the start of a .npy file, up to its content. See "A simple file format
// for NumPy arrays" in NumPy's manual.
func readHeader(r io.Reader) (*Header, error) {
	var start [8]byte
	if _, err := io.ReadFull(r, start[:]); err != nil || string(start[:6]) != magic {
		return nil, errors.New("not a .npy file: it does not begin as numpy.save begins one; raw bytes have any other " +
			"suffix, such as .bin")
	}
	width := 4
	if start[6] == 1 {
		width = 2
	} else if start[6] != 2 && start[6] != 3 {
		return nil,
			fmt.Errorf("version %d.%d of the .npy format is not known; there are 1.0, 2.0 and 3.0", start[6], start[7])
	}
	var length [4]byte
	if _, err := io.ReadFull(r, length[:width]); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > longestHeader {
		return nil, fmt.Errorf("a .npy header of %d bytes; at most %d are supported", n, longestHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return parseHeader(string(text))
}

// parseHeader reads the dictionary of a header: a text in Python's notation.
func parseHeader(text string) (*Header, error) {
	l := &literal{rest: text}
	h := &Header{}
	seen := map[string]bool{}
	if !l.take("{") {
		return nil, l.bad()
	}
	for !l.take("}") {
		key, ok := l.quoted()
		if !ok || !l.take(":") || seen[key] {
			return nil, l.bad()
		}
		seen[key] = true
		if err := h.set(key, l); err != nil {
			return nil, err
		}
		if !l.take(",") && !strings.HasPrefix(l.rest, "}") {
			return nil, l.bad()
		}
	}
	if strings.TrimSpace(l.rest) != "" {
		return nil, l.bad()
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return nil, fmt.Errorf("the .npy header has no %s", key)
		}
	}
	return h, h.measure()
}

// set reads the value of one key.
func (h *Header) set(key string, l *literal) error {
	switch key {
	case "descr":
		descr, ok := l.quoted()
		if !ok {
			return errors.New("its elements are records of several fields; save each field by itself")
		}
		h.Descr = descr
	case "fortran_order":
		switch {
		case l.take("True"):
			return errors.New("it is in Fortran order, the first dimension the fastest; save numpy.ascontiguousarray(a)")
		case !l.take("False"):
			return l.bad()
		}
	case "shape":
		if !l.take("(") {
			return l.bad()
		}
		for !l.take(")") {
			size, ok := l.number()
			if !ok || len(h.Shape) == mostDimensions {
				return l.bad()
			}
			h.Shape = append(h.Shape, size)
			if !l.take(",") && !strings.HasPrefix(l.rest, ")") {
				return l.bad()
			}
		}
	default:
		return fmt.Errorf("the .npy header has an unknown key %q", key)
	}
	return nil
}

// measure checks the type and the size of the content.
func (h *Header) measure() error {
	order, kind, digits := "", "", ""
	if len(h.Descr) >= 2 && strings.ContainsRune("<>|=", rune(h.Descr[0])) {
		order, kind, digits = h.Descr[:1], h.Descr[1:2], h.Descr[2:]
	}
	size, err := strconv.ParseUint(digits, 10, 8)
	switch {
	case kind == "O":
		return errors.New("its elements are Python objects; save an array of numbers, such as a.astype(numpy.float32)")
	case order == "" || err != nil || !slices.Contains([]string{"b", "i", "u", "f", "c", "V"}, kind) ||
		!slices.Contains([]uint64{1, 2, 4, 8, 16}, size):
		return fmt.Errorf("its elements are of the type %.60q, which is no number that a kernel takes", h.Descr)
	case order == ">" && size > 1:
		return fmt.Errorf("its numbers are big-endian (%s); save a.astype(%q)", h.Descr, "<"+h.Descr[1:])
	}
	h.size = int64(size)
	total := h.size
	for _, n := range h.Shape {
		if n == 0 {
			return fmt.Errorf("its shape %s has no elements", shapeText(h.Shape))
		}
		if n > Largest/total {
			return fmt.Errorf("its shape %.60s has more than %d bytes; at most that many are supported", shapeText(h.Shape),
				Largest)
		}
		total *= n
	}
	h.bytes = total
	return nil
}

// cut says that the content is not as long as the header says.
func (h *Header) cut(bytes int64) error {
	if bytes > h.bytes {
		return fmt.Errorf("more than the %d bytes that its header announces (%s of %s)", h.bytes, shapeText(h.Shape),
			h.Descr)
	}
	return fmt.Errorf("it is cut off: %d bytes of content, its header announces %d (%s of %s)", bytes, h.bytes,
		shapeText(h.Shape), h.Descr)
}

// literal reads Python's notation from left to right.
type literal struct{ rest string }

func (l *literal) bad() error {
	return fmt.Errorf("the .npy header cannot be read at %.60q", l.rest)
}

// take skips a token and the spaces around it.
func (l *literal) take(token string) bool {
	l.rest = strings.TrimLeft(l.rest, " \n\t\r")
	rest, ok := strings.CutPrefix(l.rest, token)
	if ok {
		l.rest = strings.TrimLeft(rest, " \n\t\r")
	}
	return ok
}

// quoted reads a string without escapes: no name of a type has one.
func (l *literal) quoted() (string, bool) {
	for _, quote := range []string{"'", `"`} {
		if !strings.HasPrefix(l.rest, quote) {
			continue
		}
		text, rest, ok := strings.Cut(l.rest[1:], quote)
		if !ok || strings.Contains(text, `\`) {
			return "", false
		}
		l.rest = strings.TrimLeft(rest, " \n\t\r")
		return text, true
	}
	return "", false
}

// number reads a size; old files write long integers with an L.
func (l *literal) number() (int64, bool) {
	end := strings.IndexFunc(l.rest, func(r rune) bool { return r < '0' || r > '9' })
	if end <= 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(l.rest[:end], 10, 64)
	l.rest = l.rest[end:]
	l.take("L")
	l.take("")
	return n, err == nil
}

func shapeText(shape []int64) string {
	return "(" + strings.Join(collect.Each(shape, func(n int64) string { return strconv.FormatInt(n, 10) }), ", ") + ")"
}
