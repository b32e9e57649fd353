package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pawl/internal/page"
)

// nsightName is what made a profile with counters of a GPU.
const nsightName = "Nsight Compute"

const mostFile = 64 << 20

// FileError says that a file is no profile.
type FileError struct{ Err error }

func (e *FileError) Error() string { return e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

// Write writes a profile into a folder and returns the file's path.
func (p *Profile) Write(folder string) (string, error) {
	path := filepath.Join(folder, fmt.Sprintf("%.12s.json", p.Digest))
	err := page.WriteFile(path, p.JSON)
	if err == nil {
		err = page.WriteFile(strings.TrimSuffix(path, ".json")+".svg", p.Sheet().Picture().WriteSVG)
	}
	if err != nil {
		return "", fmt.Errorf("the profile: %w", err)
	}
	return path, nil
}

// IsFile reports whether a text names a file that Read reads, and no point.
func IsFile(text string) bool {
	return slices.Contains([]string{".json", ".csv", ".ncu-rep"}, filepath.Ext(text)) && !strings.Contains(text, "=")
}

// Read reads a profile from a file: one that pawl has written (.json), what ncu prints with
// --page raw --csv (.csv), or ncu's own report (.ncu-rep), which needs ncu. What is no such file is a *FileError.
func Read(ctx context.Context, getenv func(string) string, path string) (*Profile, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, &FileError{err}
	}
	p := &Profile{File: path}
	var launch *Launch
	switch filepath.Ext(path) {
	case ".ncu-rep":
		program, err := FindNsight(getenv)
		if err != nil {
			return nil, err
		}
		if launch, err = program.Read(ctx, path); err != nil {
			return nil, err
		}
		p.Report = path
	case ".csv":
		var all []Launch
		if all, err = ReadNsight(text); err == nil {
			launch = Longest(all)
		}
	default:
		err = page.ReadJSON(text, "pawl profile", 1, p)
		if other := new(json.UnmarshalTypeError); errors.As(err, &other) {
			err = fmt.Errorf("a profile has something else than this %s, after %d bytes", other.Value, other.Offset)
		} else if err == nil && p.Kernel == "" {
			err = errors.New("it names no kernel")
		}
	}
	if err != nil {
		return nil, &FileError{fmt.Errorf("%s is no profile: %w", path, err)}
	}
	if launch != nil {
		p.Kernel, p.Metrics, p.Tool = launch.Kernel, launch.Metrics, nsightName
	}
	return p.explain(), nil
}

// JSON writes the profile as Read reads it.
func (p *Profile) JSON(w io.Writer) error { return page.JSON(w, "pawl profile", 1, p) }

// readFile reads a plain file of a size that is safe to read.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > mostFile || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no profile: it is too large, or no plain file", path)
	}
	return os.ReadFile(path)
}
