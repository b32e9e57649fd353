// Package includes finds the files that sources consist of: the sources and what
// they include, transitively.
//
// Its opinion is that a file too many costs a compilation and a file too few
// gives a wrong answer. No preprocessor runs: a directive in a comment counts, an
// include counts in every folder where its name is found, and one that a macro
// names may be any file.
//
//  1. In reads below one folder and never outside of it; Below reads relative to
//     a folder, and outside of it what includes and flags name there.
//  2. Flags adds the folders and files that a compiler's flags name.
//  3. Add and AddIfThere read sources; Files are all that were read.
package includes

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// OutputMark is the file that marks a folder as pawl's own output, which is never
// a source: the database of studies.
const OutputMark = "studies.db"

// File is one file.
type File struct {
	// Name is relative to the scanner's folder, with slashes. A file outside of the
	// folder has its absolute name.
	Name    string
	Content []byte
}

// Scanner collects files, in the order in which they are met.
type Scanner struct {
	tree     fs.FS
	dir      string   // of the sources, in the tree
	outside  bool     // whether the tree is the whole file system
	suffixes []string // of files that a macro may name; nil: any file
	paths    []string // further folders for includes, in the tree
	named    []string // files that flags name, in the tree
	seen     map[string]bool
	all      bool // every file of the folder was read
	files    []File
}

// In returns a scanner of one folder. A macro may name files with one of the
// suffixes only.
func In(folder fs.FS, suffixes []string) *Scanner {
	return &Scanner{tree: folder, dir: ".", suffixes: suffixes, seen: map[string]bool{}}
}

// Below returns a scanner of a folder that also reads outside of it.
func Below(dir string) (*Scanner, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	inTree := strings.TrimPrefix(filepath.ToSlash(absolute), "/")
	return &Scanner{tree: os.DirFS("/"), dir: inTree, outside: true, seen: map[string]bool{}}, nil
}

// Flags notes the folders and files that flags name, in whatever form: -Ilib,
// -I lib, -include=first.h, --include-path=one,two.
func (s *Scanner) Flags(flags []string) {
	for _, flag := range flags {
		_, value, _ := strings.Cut(flag, "=")
		candidates := []string{flag, value}
		for _, prefix := range []string{"-I", "-iquote", "-isystem", "-include", "-imacros"} {
			if rest, found := strings.CutPrefix(flag, prefix); found {
				candidates = append(candidates, rest)
			}
		}
		for _, list := range slices.Clone(candidates) {
			candidates = append(candidates, strings.Split(list, ",")...)
		}
		for _, candidate := range candidates {
			name := s.resolve(s.dir, filepath.ToSlash(candidate))
			info, err := s.stat(name)
			switch {
			case err != nil || name == s.dir:
			case info.IsDir():
				s.paths = append(s.paths, name)
			default:
				s.named = append(s.named, name)
			}
		}
	}
}

// Add reads a source, by its name in the folder, and what it includes.
func (s *Scanner) Add(name string) error { return s.read(s.resolve(s.dir, filepath.ToSlash(name))) }

// AddIfThere does the same with a source that may be missing.
func (s *Scanner) AddIfThere(name string) error {
	return s.readIfThere(s.resolve(s.dir, filepath.ToSlash(name)))
}

// Files reads what flags have named and returns all that was read.
func (s *Scanner) Files() ([]File, error) {
	for _, name := range s.named {
		if err := s.readIfThere(name); err != nil {
			return nil, err
		}
	}
	return s.files, nil
}

// Open reports whether a macro names an include, so that it may be any file.
func (s *Scanner) Open() bool { return s.all }

// resolve returns the name in the tree of a file that is named in a folder of it. A
// name outside of the tree stays one that no file has.
func (s *Scanner) resolve(folder, name string) string {
	if !path.IsAbs(name) {
		return path.Join(folder, name)
	}
	if s.outside {
		return strings.TrimPrefix(path.Clean(name), "/")
	}
	return name
}

// stat follows links; one that leads out of the tree is an error.
func (s *Scanner) stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	return fs.Stat(s.tree, name)
}

// readIfThere adds a regular file. What is missing is the toolkit's, the system's,
// or the compiler will say so.
func (s *Scanner) readIfThere(name string) error {
	if info, err := s.stat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return s.read(name)
}

// A directive that brings in another file, with its operand.
var (
	blank            = `(?:[ \t]|/\*.*?\*/)*`
	includeDirective = regexp.MustCompile(`(?:#|%:|\?\?=)` + blank + `(?:include|include_next|import|embed)\b` + blank +
		`(.*)|\.incbin\b[ \t\\]*(.*)`)
	continuedLine = regexp.MustCompile(`\\[ \t]*\r?\n`)
)

func (s *Scanner) read(name string) error {
	if s.seen[name] {
		return nil
	}
	s.seen[name] = true
	content, err := fs.ReadFile(s.tree, name)
	if err != nil {
		return err
	}
	s.files = append(s.files, File{s.shown(name), content})
	if path.Ext(name) == ".py" {
		return s.imports(name, content)
	}
	for _, match := range includeDirective.FindAllSubmatch(continuedLine.ReplaceAll(content, nil), -1) {
		included, literal := operand(string(bytes.TrimSpace(slices.Concat(match[1], match[2]))))
		if !literal {
			if err := s.everything(); err != nil {
				return err
			}
			continue
		}
		for _, folder := range append([]string{path.Dir(name), s.dir}, s.paths...) {
			if err := s.readIfThere(s.resolve(folder, included)); err != nil {
				return err
			}
		}
	}
	return nil
}

// shown is a name as File has it.
func (s *Scanner) shown(name string) string {
	if !s.outside {
		return name
	}
	if inside, found := strings.CutPrefix(name, s.dir+"/"); found {
		return inside
	}
	return "/" + name
}

// operand returns the file name of an include, and false if a macro stands for it.
func operand(text string) (name string, literal bool) {
	text = strings.TrimPrefix(text, `\`) // .incbin inside a string
	for open, end := range map[string]string{`"`: `"`, "<": ">"} {
		if rest, found := strings.CutPrefix(text, open); found {
			name, _, literal = strings.Cut(rest, end)
			return strings.TrimSuffix(name, `\`), literal
		}
	}
	return "", false
}

// everything reads the files of the folder that a macro may name, but neither
// hidden folders nor what pawl has written: the header of a winner lies beside the
// database of studies.
func (s *Scanner) everything() error {
	if s.all {
		return nil
	}
	s.all = true
	return fs.WalkDir(s.tree, s.dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission):
			return nil // the compiler cannot read it either
		case err != nil:
			return err
		case entry.IsDir() && name != s.dir && (strings.HasPrefix(entry.Name(), ".") || s.isOutput(name)):
			return fs.SkipDir
		case s.suffixes != nil && !slices.Contains(s.suffixes, path.Ext(name)):
			return nil
		}
		return s.readIfThere(name)
	})
}

func (s *Scanner) isOutput(folder string) bool {
	_, err := s.stat(path.Join(folder, OutputMark))
	return err == nil
}
