package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"pawl/gate/baseline"
	"pawl/gate/policy"
)

// JSON writes the facts for programs.
func JSON(w io.Writer, r *Report) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

// ProfileList writes the configurations to profile as JSON.
func ProfileList(w io.Writer, r *Report, triggers []policy.Trigger) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r.Profile(triggers))
}

// WriteAll writes every form of the report into a folder and returns the paths.
// Each file is replaced completely or not at all.
func WriteAll(folder string, r *Report, triggers []policy.Trigger) ([]string, error) {
	var paths []string
	for _, f := range []struct {
		name   string
		render func(io.Writer) error
	}{
		{MarkdownName, func(w io.Writer) error { return Markdown(w, r) }},
		{JSONName, func(w io.Writer) error { return JSON(w, r) }},
		{JUnitName, func(w io.Writer) error { return JUnit(w, r) }},
		{ProfileName, func(w io.Writer) error { return ProfileList(w, r, triggers) }},
	} {
		var content bytes.Buffer
		if err := f.render(&content); err != nil {
			return paths, fmt.Errorf("writing %s: %w", f.name, err)
		}
		path := filepath.Join(folder, f.name)
		if err := baseline.ReplaceFile(path, content.Bytes()); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}
