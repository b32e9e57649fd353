package kernels

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"pawl/kernels/includes"
)

// File is one of the files that a kernel consists of, named relative to its folder.
type File = includes.File

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
	manifest, err := fs.ReadFile(folder, ManifestName)
	var files []File
	if err == nil {
		files, err = k.scan(includes.In(folder, sourceSuffixes), k.named)
	}
	if err == nil {
		files, err = k.withData(folder, files)
	}
	if err != nil {
		return nil, fmt.Errorf("reading kernel %s: %w", k.Name, err)
	}
	if !slices.ContainsFunc(files, func(f File) bool { return f.Name == ManifestName }) {
		files = append(files, File{Name: ManifestName, Content: manifest})
	}
	slices.SortFunc(files, func(a, b File) int {
		return slices.Compare(strings.Split(a.Name, "/"), strings.Split(b.Name, "/"))
	})
	return files, nil
}

// scan reads some files and what they include. One that is missing is another backend's.
func (k *Kernel) scan(scanner *includes.Scanner, names []string) ([]File, error) {
	scanner.Flags(k.flags)
	for _, name := range names {
		if err := scanner.AddIfThere(name); err != nil {
			return nil, err
		}
	}
	return scanner.Files()
}

// withData adds the files with the contents of arguments, for any backend. One that is
// missing is another backend's.
func (k *Kernel) withData(folder fs.FS, files []File) ([]File, error) {
	for _, name := range k.data {
		name = path.Clean(name)
		if slices.ContainsFunc(files, func(f File) bool { return f.Name == name }) {
			continue
		}
		content, err := fs.ReadFile(folder, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: name, Content: content})
	}
	return files, nil
}

// CPlusPlusSuffixes are the names of sources that are C++.
var CPlusPlusSuffixes = []string{".cc", ".cpp", ".cxx"}

// sourceSuffixes are the names of files that an include by macro may mean.
var sourceSuffixes = []string{
	".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc", ".inl", ".ipp", ".tpp", ".def", ".c", ".cc", ".cpp", ".cxx", ".cu",
	".ptx",
}

// DatabaseName is the name of the study database in the folder that pawl writes to.
const DatabaseName = includes.OutputMark

// Depends returns the files that the kernel's machine code is made of, for any backend:
// those of Files, of data the names alone, and what they include from outside of the folder, which have absolute
// names. Open says that a macro names an include, so that it may be any source. An embedded
// kernel has no files on disk.
func (k *Kernel) Depends() (files []File, open bool, err error) {
	if k.Dir == "" {
		return nil, false, nil
	}
	scanner, err := includes.Below(k.Dir)
	if err == nil {
		files, err = k.scan(scanner, append([]string{ManifestName}, k.named...))
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading kernel %s: %w", k.Name, err)
	}
	for _, name := range k.data { // what they hold names no other file
		files = append(files, File{Name: path.Clean(name)})
	}
	return files, scanner.Open(), nil
}

// IsSource reports whether a file may be included by its name.
func IsSource(name string) bool {
	return slices.Contains(sourceSuffixes, strings.ToLower(path.Ext(name)))
}
