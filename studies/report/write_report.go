package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"pawl/internal/page"
	"pawl/studies"
)

// The files that WriteAll makes, beside the header.
const (
	MarkdownName = "suggestions.md"
	JSONName     = "suggestions.json"
	HTMLName     = "report.html"
	// RooflineName is a picture, of a kernel whose work is known.
	RooflineName = "roofline.svg"
)

// Files are the paths that WriteAll has changed.
type Files struct {
	Written []string
	// Removed is the header of an earlier study, which this one does not confirm, or of
	// what the gate has refused since; empty for none.
	Removed string
}

// JSON writes the study for programs.
func (s *Summary) JSON(w io.Writer) error { return page.JSON(w, "pawl study", 1, s) }

// WriteAll writes every form of the report into a folder. Each file is replaced at
// once or not at all. A header that an earlier study has left there goes, if there
// is none in its place.
func WriteAll(dir string, s *Summary) (changed Files, err error) {
	form := func(name string, render func(io.Writer, *Summary) error) page.File {
		return page.File{Name: name, Render: func(w io.Writer) error { return render(w, s) }}
	}
	files := []page.File{form(MarkdownName, Markdown),
		{Name: JSONName, Render: s.JSON}, form(HTMLName, HTML)}
	if s.Suggestion != nil && s.Suggestion.Header != "" {
		files = append(files, form(headerName(s.Study), Header))
	} else if changed.Removed, err = removeHeader(filepath.Join(dir, headerName(s.Study))); err != nil {
		return changed, fmt.Errorf("writing the report: %w", err)
	}
	if scaling := NewView(s, nil).Scaling(); scaling.Width > 0 {
		files = append(files, page.File{Name: RooflineName, Render: scaling.WriteSVG})
	}
	if changed.Written, err = page.WriteFiles(dir, files...); err != nil {
		return changed, fmt.Errorf("the report: %w", err)
	}
	return changed, nil
}

// removePages removes the pages of a study with its header, and their folder where nothing else is in it. It returns
// the header's path, empty for none.
func removePages(dir string, s studies.Study) (header string, err error) {
	if header, err = removeHeader(filepath.Join(dir, headerName(s))); err != nil {
		return header, err
	}
	for _, name := range []string{MarkdownName, JSONName, HTMLName, RooflineName} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return header, err
		}
	}
	_ = os.Remove(dir) // it may hold something of the user's
	return header, nil
}

// removeHeader removes a header that we have written, and returns its path.
func removeHeader(path string) (string, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !IsHeader(content) {
		return "", nil
	}
	if err == nil {
		err = os.Remove(path)
	}
	return path, err
}
