package nvcc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// file is a file that a unit is made from, named relative to the unit's folder
// where it lies inside.
type file struct {
	name    string
	content []byte
}

// An include directive, with its operand. It need not start its line: one that
// is in a comment only makes the key cover more than it must.
var includeDirective = regexp.MustCompile(`(?:#|%:)[ \t]*(?:include|include_next|import)\b[ \t]*(.*)`)

// scanner collects the files of a unit.
type scanner struct {
	dir   string
	paths []string // of -I and its like, absolute
	seen  map[string]bool
	all   bool // the unit's folder was read as a whole
	files []file
}

// readFiles returns the source and, transitively, every include that lies in
// the folder of the file that names it, in the unit's folder or in a folder
// that the flags add. A file that cannot be found there is the toolkit's or the
// system's, or missing: the compiler will say so.
func readFiles(unit Unit) ([]file, error) {
	dir, err := filepath.Abs(unit.Dir)
	if err != nil {
		return nil, err
	}
	flags := readFlags(unit.Flags)
	s := &scanner{dir: dir, seen: map[string]bool{}}
	for _, path := range flags.folders {
		s.paths = append(s.paths, s.absolute(path))
	}
	if err := s.read(filepath.Join(dir, unit.Source)); err != nil {
		return nil, err
	}
	for _, name := range flags.files {
		if err := s.include(dir, name); err != nil {
			return nil, err
		}
	}
	return s.files, nil
}

func (s *scanner) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(s.dir, path)
}

// read adds a file and what it includes.
func (s *scanner) read(path string) error {
	if s.seen[path] {
		return nil
	}
	s.seen[path] = true
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name := path
	if relative, err := filepath.Rel(s.dir, path); err == nil && filepath.IsLocal(relative) {
		name = filepath.ToSlash(relative)
	}
	s.files = append(s.files, file{name, content})
	joined := bytes.ReplaceAll(content, []byte("\\\r\n"), nil)
	joined = bytes.ReplaceAll(joined, []byte("\\\n"), nil)
	for _, match := range includeDirective.FindAllSubmatch(joined, -1) {
		name, literal := operand(string(match[1]))
		if !literal {
			// A macro names the file: it may be any in the folder.
			if err := s.everything(); err != nil {
				return err
			}
			continue
		}
		if err := s.include(filepath.Dir(path), name); err != nil {
			return err
		}
	}
	return nil
}

// operand returns the file name of an include, and false if it has none.
func operand(text string) (name string, literal bool) {
	for open, end := range map[string]string{`"`: `"`, "<": ">"} {
		if rest, found := strings.CutPrefix(text, open); found {
			name, _, literal = strings.Cut(rest, end)
			return name, literal
		}
	}
	return "", false
}

// include reads the files that a name may stand for. Which of them the compiler
// takes depends on the brackets and on the order of the folders; all count.
func (s *scanner) include(from, name string) error {
	candidates := []string{name}
	if !filepath.IsAbs(name) {
		candidates = nil
		for _, folder := range append([]string{from, s.dir}, s.paths...) {
			candidates = append(candidates, filepath.Join(folder, name))
		}
	}
	for _, path := range slices.Compact(candidates) {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := s.read(filepath.Clean(path)); err != nil {
			return err
		}
	}
	return nil
}

// everything reads all regular files of the unit's folder.
func (s *scanner) everything() error {
	if s.all {
		return nil
	}
	s.all = true
	return filepath.WalkDir(s.dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil:
			return err
		case entry.IsDir() && path != s.dir && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		return s.read(path)
	})
}
