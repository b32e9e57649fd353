package kernels

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// File is one of the files that a kernel consists of.
type File struct {
	// Name is relative to the kernel's folder, with slashes.
	Name    string
	Content []byte
}

// Files returns what the kernel consists of: the manifest, the files that it
// names for any backend, and what those include, transitively, from inside the
// folder; in the order of a walk through it. Nothing else in the folder counts:
// neither results and databases that lie there, nor links that lead out of it, nor
// pipes and sockets. So the list is the same before and after a kernel was tuned in
// its own folder.
func (k *Kernel) Files() ([]File, error) {
	if k.Dir == "" {
		return k.filesIn(Files(k.Origin))
	}
	root, err := os.OpenRoot(k.Dir)
	if err != nil {
		return nil, fmt.Errorf("reading kernel %s: %w", k.Name, err)
	}
	defer root.Close()
	return k.filesIn(root.FS())
}

func (k *Kernel) filesIn(folder fs.FS) ([]File, error) {
	c := &collector{folder: folder, seen: map[string]bool{}}
	c.mentioned(k.flags)
	err := c.read(ManifestName)
	for _, name := range k.named {
		if err == nil {
			err = c.readIfThere(path.Clean(filepath.ToSlash(name)))
		}
	}
	for _, name := range c.fromFlags {
		if err == nil {
			err = c.readIfThere(name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading kernel %s: %w", k.Name, err)
	}
	slices.SortFunc(c.files, func(a, b File) int {
		return slices.CompareFunc(strings.Split(a.Name, "/"), strings.Split(b.Name, "/"), cmp.Compare[string])
	})
	return c.files, nil
}

// collector gathers the files of a kernel.
type collector struct {
	folder    fs.FS
	paths     []string // folders that flags add for includes
	fromFlags []string
	seen      map[string]bool
	all       bool // every source in the folder was read
	files     []File
}

// A directive that brings in another file, with its operand. One in a comment only
// makes the list longer than it must be.
var (
	blank            = `(?:[ \t]|/\*.*?\*/)*`
	includeDirective = regexp.MustCompile(`(?:#|%:|\?\?=)` + blank + `(?:include|include_next|import|embed)\b` + blank + `(.*)|\.incbin\b[ \t\\]*(.*)`)
	continuedLine    = regexp.MustCompile(`\\[ \t]*\r?\n`)
)

// mentioned notes the folders and files that flags name, in whatever form: -Ilib,
// -I lib, -include=first.h.
func (c *collector) mentioned(flags []string) {
	for _, flag := range flags {
		_, value, _ := strings.Cut(flag, "=")
		candidates := append([]string{flag, value}, strings.Split(value, ",")...)
		for _, prefix := range []string{"-I", "-iquote", "-isystem", "-include", "-imacros"} {
			if rest, found := strings.CutPrefix(flag, prefix); found {
				candidates = append(candidates, rest)
			}
		}
		for _, name := range candidates {
			name = path.Clean(filepath.ToSlash(name))
			info, err := c.stat(name)
			switch {
			case err != nil || name == ".":
			case info.IsDir():
				c.paths = append(c.paths, name)
			default:
				c.fromFlags = append(c.fromFlags, name)
			}
		}
	}
}

// stat follows links inside the folder; one that leads out of it is an error.
func (c *collector) stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	return fs.Stat(c.folder, name)
}

// readIfThere adds a file, if it is a regular one inside the folder. What is
// missing is another backend's, the system's, or the compiler will say so.
func (c *collector) readIfThere(name string) error {
	if info, err := c.stat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return c.read(name)
}

// read adds a file and what it includes.
func (c *collector) read(name string) error {
	if c.seen[name] {
		return nil
	}
	c.seen[name] = true
	content, err := fs.ReadFile(c.folder, name)
	if err != nil {
		return err
	}
	c.files = append(c.files, File{name, content})
	if name == ManifestName {
		return nil
	}
	for _, match := range includeDirective.FindAllSubmatch(continuedLine.ReplaceAll(content, nil), -1) {
		included, literal := operand(string(bytes.TrimSpace(slices.Concat(match[1], match[2]))))
		if !literal {
			// A macro names the file: it may be any.
			if err := c.everySource(); err != nil {
				return err
			}
			continue
		}
		for _, from := range append([]string{path.Dir(name), "."}, c.paths...) {
			if err := c.readIfThere(path.Join(from, included)); err != nil {
				return err
			}
		}
	}
	return nil
}

// operand returns the file name of an include, and false if it has none.
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

// sourceSuffixes are the names of files that an include may mean.
var sourceSuffixes = []string{
	".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc", ".inl", ".ipp", ".tpp", ".def", ".c", ".cc", ".cpp", ".cxx", ".cu", ".ptx",
}

// everySource reads all sources in the folder, but not what pawl has written: the
// header of a winner lies beside the database of studies.
func (c *collector) everySource() error {
	if c.all {
		return nil
	}
	c.all = true
	return fs.WalkDir(c.folder, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir // unreadable: the compiler cannot read it either
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || c.isOutput(name)):
			return fs.SkipDir
		case slices.Contains(sourceSuffixes, path.Ext(name)):
			return c.readIfThere(name)
		}
		return nil
	})
}

// isOutput reports whether a folder holds studies.
func (c *collector) isOutput(name string) bool {
	_, err := c.stat(path.Join(name, DatabaseName))
	return err == nil
}

// DatabaseName is the name of the study database in the folder that pawl writes to.
const DatabaseName = "studies.db"
