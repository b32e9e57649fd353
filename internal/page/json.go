package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// head is how JSON for programs begins.
type head struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

// JSON writes an object for programs, which begins with its format and the version of it. docs/notes/json.md
// lists the formats. The version grows where a field goes or means something else, and not where one is added.
func JSON(w io.Writer, format string, version int, value any) error {
	var fields, text bytes.Buffer
	encoder := json.NewEncoder(&fields)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	if fields.Next(1)[0] != '{' {
		panic(fmt.Sprintf("page: %s is a %T and no object", format, value))
	}
	begin := fmt.Sprintf(`{"format":%q,"version":%d`, format, version)
	if fields.Bytes()[0] != '}' {
		begin += ","
	}
	if err := json.Indent(&text, append([]byte(begin), fields.Bytes()...), "", "  "); err != nil {
		return err
	}
	_, err := text.WriteTo(w)
	return err
}

// List is a list as JSON takes it: inside an object, and never null.
func List[T any](name string, all []T) map[string][]T {
	return map[string][]T{name: append([]T{}, all...)}
}

// ReadJSON reads what JSON has written, also by a pawl that did not write formats yet.
func ReadJSON(content []byte, format string, version int, into any) error {
	var found head
	if err := json.Unmarshal(content, &found); err != nil {
		return err
	}
	switch {
	case found.Format != "" && found.Format != format:
		return fmt.Errorf("it is a %q and no %q", found.Format, format)
	case found.Version > version:
		return fmt.Errorf("a newer pawl wrote it: version %d, and %d is known here", found.Version, version)
	}
	return json.Unmarshal(content, into)
}
