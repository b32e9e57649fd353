package document

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"pawl/space"
)

// Edit replaces the bytes from begin to end.
type Edit struct {
	begin, end int
	text       string
}

// Replace is the edit that puts another value where this one stands.
func (s Scalar) Replace(content []byte, value space.Value) (Edit, error) {
	begin, err := s.find(content)
	if err != nil {
		return Edit{}, err
	}
	text, err := written(value, s)
	return Edit{begin, begin + len(s.source), text}, err
}

// Apply makes all edits.
func Apply(content []byte, edits []Edit) []byte {
	edits = slices.SortedFunc(slices.Values(edits), func(a, b Edit) int { return cmp.Compare(a.begin, b.begin) })
	var changed bytes.Buffer
	at := 0
	for _, e := range edits {
		changed.Write(content[at:e.begin])
		changed.WriteString(e.text)
		at = e.end
	}
	changed.Write(content[at:])
	return changed.Bytes()
}

// find returns where a value stands in a file, in bytes, by its line and column: the
// parser's own offsets go astray behind line endings of two bytes.
func (s Scalar) find(content []byte) (int, error) {
	failed := s.At.Errorf("the default %q cannot be replaced in the file: edit it by hand", s.Text)
	if s.source == "" || strings.ContainsAny(s.source, "\r\n") {
		return 0, failed
	}
	at := 0
	for range s.At.Line - 1 {
		end := bytes.IndexByte(content[at:], '\n')
		if end < 0 {
			return 0, failed
		}
		at += end + 1
	}
	for range s.At.Column - 1 {
		_, size := utf8.DecodeRune(content[at:])
		at += size
	}
	if !bytes.HasPrefix(content[at:], []byte(s.source)) {
		return 0, failed
	}
	return at, nil
}

// written returns a value as YAML, with the quotes of the one that it replaces. Text
// that would not be read as itself without quotes gets them.
func written(value space.Value, old Scalar) (string, error) {
	plain := value.String()
	if value.Kind() == space.Text {
		plain = value.Define()
	}
	double, single := strconv.Quote(plain), "'"+strings.ReplaceAll(plain, "'", "''")+"'"
	ways := []string{plain, double}
	switch {
	case strings.HasPrefix(old.source, "'"):
		ways = []string{single, double}
	case old.quoted:
		ways = []string{double}
	}
	for _, way := range ways {
		if !strings.ContainsAny(way, "\r\n") && readsAs(way, value) {
			return way, nil
		}
	}
	return "", old.At.Errorf("the value %s cannot be written in YAML on one line: edit it by hand", value)
}

// readsAs reports whether a text is read as one value, also inside brackets.
func readsAs(text string, value space.Value) (same bool) {
	defer func() {
		if recover() != nil { // the library's panics on hostile input
			same = false
		}
	}()
	var list []Scalar
	if err := yaml.Unmarshal([]byte("["+text+", 0]"), &list); err != nil || len(list) != 2 {
		return false
	}
	read := list[0]
	return read.Value == value || read.Value.Kind() == 0 && read.Text == value.String() // a decimal
}
