package report

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The files that WriteAll makes, beside the header.
const (
	MarkdownName = "suggestions.md"
	JSONName     = "suggestions.json"
	HTMLName     = "report.html"
)

// WriteAll writes every form of the report into a folder and returns the
// paths. Each file is replaced at once or not at all.
func WriteAll(dir string, s *Summary) ([]string, error) {
	files := []struct {
		name   string
		render func(io.Writer, *Summary) error
	}{{MarkdownName, Markdown}, {JSONName, JSON}, {HTMLName, HTML}}
	if s.Evidence != nil {
		files = append(files, struct {
			name   string
			render func(io.Writer, *Summary) error
		}{HeaderName(s), Header})
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("writing the report: %w", err)
	}
	var paths []string
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := replaceFile(path, func(w io.Writer) error { return f.render(w, s) }); err != nil {
			return paths, fmt.Errorf("writing the report: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// JSON writes the facts for programs.
func JSON(w io.Writer, s *Summary) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(s)
}

// replaceFile writes a file beside its place and renames it.
func replaceFile(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
