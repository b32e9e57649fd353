package kernels

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pawl/internal/collect"
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

// units takes the files that are compiled beside the source, and the folders of includes.
func (b *builder) units() error {
	if only := b.files.Reference; len(only.units) > 0 {
		return only.units[0].At.Errorf("a reference is one file: include the others in %s", only.Text)
	}
	seen := []string{b.kernel.Source}
	for _, unit := range b.files.Source.units {
		switch {
		case slices.Contains(seen, unit.Text):
			return unit.At.Errorf("source: %s is listed twice", unit.Text)
		case !b.on.Takes(unit.Text):
			return unit.At.Errorf("source: %s is compiled on its own and linked, so its name must end in %s; include a header "+
				"instead", unit.Text, strings.Join(b.on.suffixes(), ", "))
		}
		seen = append(seen, unit.Text)
		b.kernel.Units = append(b.kernel.Units, unit.Text)
	}
	for _, folder := range b.keys.Include {
		if folder.Text == "" || !filepath.IsLocal(folder.Text) {
			return folder.At.Errorf("include: %q leaves the kernel's folder, so that its files would not belong to the "+
				"kernel; copy or link what is needed into it, or name the folder in flags (-I%s)", folder.Text, folder.Text)
		}
		b.kernel.Include = append(b.kernel.Include, folder.Text)
	}
	return nil
}

// Sources are the files that are compiled: the source and its further units.
func (k *Kernel) Sources() []string { return append([]string{k.Source}, k.Units...) }

// IncludeFlags have compilers look into the manifest's folders, which they run in.
func (k *Kernel) IncludeFlags() (flags []string) {
	return collect.Each(k.Include, func(folder string) string { return "-I" + folder })
}

// Pack writes files as an archive of tar: names and contents only, neither times nor owners, so that the same files
// are the same bytes.
func Pack(w io.Writer, files []File) error {
	archive := tar.NewWriter(w)
	for _, f := range files {
		err := archive.WriteHeader(&tar.Header{Name: f.Name, Mode: 0o644, Size: int64(len(f.Content)), Format: tar.FormatPAX})
		if err == nil {
			_, err = archive.Write(f.Content)
		}
		if err != nil {
			return fmt.Errorf("packing %s: %w", f.Name, err)
		}
	}
	return archive.Close()
}

// Unpack writes the regular files of an archive into a folder, and nothing outside it: whoever may file a task on a
// farm, or change a baseline, may have packed them.
func Unpack(r io.Reader, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("unpacking sources: %w", err)
	}
	defer root.Close()
	archive := tar.NewReader(r)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && header.Typeflag == tar.TypeReg {
			err = unpackFile(root, filepath.FromSlash(header.Name), archive)
		}
		if err != nil {
			return fmt.Errorf("unpacking sources: %w", err)
		}
	}
}

func unpackFile(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
