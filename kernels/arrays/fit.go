package arrays

import (
	"fmt"
	"slices"
	"strings"
)

// Fits says why a file is not the content of a buffer of a type, whose elements have so
// many bytes, and of a shape; nil if it is.
func (f File) Fits(typ string, size int, shape []int64) error {
	count := int64(1)
	for _, n := range shape {
		count *= n
	}
	if f.Header == nil {
		if want := count * int64(size); f.Bytes != want {
			return fmt.Errorf("file %s has %d bytes; %s of %s needs %d", f.Name, f.Bytes, shapeText(shape), typ, want)
		}
		return nil
	}
	if !slices.Contains(f.Header.types(), typ) {
		return fmt.Errorf("file %s has elements of %s (%s), not of %s: save it as that type, or change the argument's",
			f.Name, strings.Join(f.Header.types(), " or "), f.Header.Descr, typ)
	}
	if !slices.Equal(f.Header.numbers(), shape) {
		return fmt.Errorf("file %s has the shape %s, not %s", f.Name, shapeText(f.Header.numbers()), shapeText(shape))
	}
	return nil
}

// numbers is the shape in real numbers: complex ones are pairs of them.
func (h *Header) numbers() []int64 {
	if h.Descr[1] == 'c' {
		return append(slices.Clone(h.Shape), 2)
	}
	return h.Shape
}

// types are the manifest's names of what a header's type may be used as. NumPy has no
// floats of 8 bits and no bfloat16: they are saved as bytes or as unsigned integers.
func (h *Header) types() []string {
	kind, bits := h.Descr[1:2], 8*h.size
	switch {
	case kind == "c":
		return []string{fmt.Sprintf("f%d", bits/2)}
	case kind == "b":
		return []string{"u8"}
	case kind == "V" && h.size == 1:
		return []string{"e4m3", "e5m2"}
	case kind == "V" && h.size == 2:
		return []string{"bf16"}
	case kind == "u" && h.size == 1:
		return []string{"u8", "e4m3", "e5m2"}
	case kind == "u" && h.size == 2:
		return []string{"u16", "bf16"}
	case kind == "V":
		return []string{fmt.Sprintf("records of %d bytes", h.size)}
	}
	return []string{fmt.Sprintf("%s%d", kind, bits)}
}
