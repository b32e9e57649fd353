package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The files that WriteAll makes, beside the header.
const (
	MarkdownName = "suggestions.md"
	JSONName     = "suggestions.json"
	HTMLName     = "report.html"
)

// Files are the paths that WriteAll has changed.
type Files struct {
	Written []string
	// Removed is the header of an earlier study, which this one does not confirm;
	// empty for none.
	Removed string
}

// WriteAll writes every form of the report into a folder. Each file is replaced at
// once or not at all. A header that an earlier study has left there goes, if there
// is none in its place.
func WriteAll(dir string, s *Summary) (changed Files, err error) {
	files := []struct {
		name   string
		render func(io.Writer, *Summary) error
	}{{MarkdownName, Markdown}, {JSONName, JSON}, {HTMLName, HTML}}
	if s.Suggestion != nil {
		files = append(files, struct {
			name   string
			render func(io.Writer, *Summary) error
		}{HeaderName(s), Header})
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return changed, fmt.Errorf("writing the report: %w", err)
	}
	if s.Suggestion == nil {
		if changed.Removed, err = removeHeader(filepath.Join(dir, HeaderName(s))); err != nil {
			return changed, fmt.Errorf("writing the report: %w", err)
		}
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := replaceFile(path, func(w io.Writer) error { return f.render(w, s) }); err != nil {
			return changed, fmt.Errorf("writing the report: %w", err)
		}
		changed.Written = append(changed.Written, path)
	}
	return changed, nil
}

// removeHeader removes a header that we have written, and returns its path.
func removeHeader(path string) (string, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !strings.HasPrefix(string(content), headerMark) {
		return "", nil
	}
	if err == nil {
		err = os.Remove(path)
	}
	return path, err
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
