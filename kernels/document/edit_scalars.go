package document

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"pawl/space"
)

// Replace is the text that puts another value where this one stands, and the place, in bytes.
func (s Scalar) Replace(content []byte, value space.Value) (begin, end int, text string, err error) {
	if begin, err = s.find(content); err == nil {
		text, err = written(value, s)
	}
	return begin, begin + len(s.source), text, err
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
