package kernels

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"pawl/space"
)

// WithDefaults returns a manifest in which the default point of a backend is another
// one. Only the text of the defaults themselves is replaced: comments, layout, line
// endings, quotes and anchors stay as they are. Where all defaults are so already, the
// content is returned unchanged. The file's name is for messages.
//
// YAML has more ways to write a value than we know of, and positions from a parser may
// be wrong. So the text at each position must be the value that was read there, and the
// result is read again: for the backend it must differ in its default point alone, and
// for another backend in nothing. Anything else is an error, and a person has to edit.
func WithDefaults(file string, content []byte, backend string, point space.Point) ([]byte, error) {
	before, err := parse(file, content, backend)
	if err != nil {
		return nil, err
	}
	if before.Default() == point {
		return content, nil
	}
	edits, err := defaultEdits(content, backend, point)
	if err != nil {
		return nil, Locate(file, content, err)
	}
	changed := replaceAll(content, edits)
	after, err := parse(file, changed, backend)
	switch {
	case err != nil:
		return nil, fmt.Errorf("with the default %s the manifest cannot be used: %w", point, err)
	case after.Default() != point:
		return nil, fmt.Errorf("%s: the default would be %s, not %s: edit it by hand", file, after.Default(), point)
	}
	if err := onlyDefaults(content, changed, backend); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return changed, nil
}

// edit replaces the bytes from begin to end.
type edit struct {
	begin, end int
	text       string
}

// defaultEdits returns what has to be replaced.
func defaultEdits(content []byte, backend string, point space.Point) (edits []edit, err error) {
	m := &manifest{}
	if err := Decode(content, "manifest", m); err != nil {
		return nil, err
	}
	for name, entry := range m.forBackend(backend).Keys.Params.all() {
		value, found := point.Get(name.text)
		switch {
		case !found:
			return nil, name.at.errorf("the point %s says nothing about parameter %s", point, name.text)
		case value == entry.Default.value:
			continue
		}
		begin, err := entry.Default.find(content)
		if err != nil {
			return nil, err
		}
		text, err := written(value, entry.Default)
		if err != nil {
			return nil, err
		}
		edits = append(edits, edit{begin, begin + len(entry.Default.source), text})
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.begin, b.begin) })
	return edits, nil
}

func replaceAll(content []byte, edits []edit) []byte {
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
func (s scalar) find(content []byte) (int, error) {
	failed := s.at.errorf("the default %q cannot be replaced where it stands: edit it by hand", s.text)
	if s.source == "" || strings.ContainsAny(s.source, "\r\n") {
		return 0, failed
	}
	at := 0
	for range s.at.line - 1 {
		end := bytes.IndexByte(content[at:], '\n')
		if end < 0 {
			return 0, failed
		}
		at += end + 1
	}
	for range s.at.column - 1 {
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
func written(value space.Value, old scalar) (string, error) {
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
	return "", old.at.errorf("the value %s cannot be written in YAML on one line: edit it by hand", value)
}

// readsAs reports whether a text is read as one value, also inside brackets.
func readsAs(text string, value space.Value) (same bool) {
	defer func() {
		if recover() != nil { // the library's panics on hostile input
			same = false
		}
	}()
	var list []scalar
	err := yaml.Unmarshal([]byte("["+text+", 0]"), &list)
	return err == nil && len(list) == 2 && list[0].value == value
}

// onlyDefaults makes sure that two manifests say the same but for the defaults of a
// backend.
func onlyDefaults(before, after []byte, backend string) error {
	for _, b := range []string{Host, CUDA} {
		var texts [2]string
		for i, content := range [][]byte{before, after} {
			m := &manifest{}
			if err := Decode(content, "manifest", m); err != nil {
				return err
			}
			merged := m.forBackend(b)
			switch {
			case b == backend:
				for i := range merged.Keys.Params.values {
					merged.Keys.Params.values[i].Default = scalar{}
				}
			case merged.Source.text == "":
				merged.Keys.Params = nil // there is no such kernel
			}
			texts[i] = meaning(m.Name.text, m.Summary.text, merged)
		}
		switch {
		case texts[0] == texts[1]:
		case b == backend:
			return errors.New("something else would change with the defaults, perhaps by an anchor: edit them by hand")
		default:
			return fmt.Errorf("the defaults of %s would change with those of %s, where alone they were measured: give %s params of its own first", b, backend, backend)
		}
	}
	return nil
}

// meaning writes all that was read from a manifest, without where it stands.
func meaning(parts ...any) string {
	var text strings.Builder
	var write func(reflect.Value)
	write = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() {
				text.WriteString("none ")
			} else {
				write(v.Elem())
			}
		case reflect.Slice:
			fmt.Fprintf(&text, "%d ", v.Len())
			for i := range v.Len() {
				write(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).Type != reflect.TypeFor[position]() {
					write(v.Field(i))
				}
			}
		default:
			fmt.Fprintf(&text, "%q ", fmt.Sprint(v))
		}
	}
	for _, part := range parts {
		write(reflect.ValueOf(part))
	}
	return text.String()
}
