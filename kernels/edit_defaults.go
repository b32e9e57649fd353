package kernels

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"pawl/kernels/csource"
	"pawl/kernels/document"
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
		return nil, document.Locate(file, content, err)
	}
	changed := []byte(csource.Rewrite(string(content), edits))
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

// defaultEdits returns what has to be replaced.
func defaultEdits(content []byte, backend string, point space.Point) (edits []csource.Edit, err error) {
	m := &manifest{}
	if err := document.Decode(content, "manifest", m); err != nil {
		return nil, err
	}
	for name, entry := range m.forBackend(BackendOf(backend)).Keys.Params.All() {
		value, found := point.Get(name.Text)
		switch {
		case !found:
			return nil, name.At.Errorf("the point %s says nothing about parameter %s", point, name.Text)
		case value == entry.Default.Value:
			continue
		}
		begin, end, text, err := entry.Default.Replace(content, value)
		if err != nil {
			return nil, err
		}
		edits = append(edits, csource.Edit{Place: csource.Place{From: begin, To: end}, Text: text})
	}
	return edits, nil
}

// onlyDefaults makes sure that two manifests say the same but for the defaults of a
// backend.
func onlyDefaults(before, after []byte, backend string) error {
	for _, b := range Backends {
		var texts [2]string
		for i, content := range [][]byte{before, after} {
			m := &manifest{}
			if err := document.Decode(content, "manifest", m); err != nil {
				return err
			}
			merged := m.forBackend(b)
			switch {
			case b.Name == backend:
				for i := range merged.Keys.Params.Values {
					merged.Keys.Params.Values[i].Default = document.Scalar{}
				}
			case !m.has(b):
				merged.Keys.Params = nil // there is no such kernel
			}
			texts[i] = meaning(m.Name.Text, m.Summary.Text, merged)
		}
		switch {
		case texts[0] == texts[1]:
		case b.Name == backend:
			return errors.New("something else would change with the defaults, perhaps by an anchor: edit them by hand")
		default:
			return fmt.Errorf("the defaults of %s would change with those of %s, where alone they were measured: give %s "+
				"params of its own first", b.Name, backend, backend)
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
				if v.Type().Field(i).Type != reflect.TypeFor[document.Place]() {
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
