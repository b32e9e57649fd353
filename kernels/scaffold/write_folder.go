package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/kernels"
)

// Source says what a new folder begins from: the zero Source is an example.
type Source struct {
	// File is a source to describe, Entry the function in it.
	File, Entry string
	// Tiles describes a File that only its own compiler can read; nil where there is none.
	Tiles func(file, entry string) (TileSource, error)
	// Call is a program that calls the function, for Tiles to learn what it is called with; empty for none.
	Call string
	// Program asks for an example that is a program of its own.
	Program bool
}

// examples are the folders of kernels that tune at once: a function for the processor, and a program of its own.
//
//go:embed examples
var examples embed.FS

// example is one of the examples, under another name.
func example(kind, name string) (made Folder) {
	paths, err := fs.Glob(examples, path.Join("examples", kind, "*"))
	for _, file := range paths {
		content, unread := examples.ReadFile(file)
		err = errors.Join(err, unread)
		content = bytes.Replace(content, []byte("NAME"), []byte(name), 1)
		made.Files = append(made.Files, kernels.File{Name: path.Base(file), Content: content})
	}
	if err != nil {
		panic("scaffold: embedded files: " + err.Error())
	}
	return made
}

// Write makes the folder of a new kernel, which is named after it: an example, or what is in
// a source. The files that it returns have their paths.
func Write(folder string, source Source) (made Folder, err error) {
	name := filepath.Base(filepath.Clean(folder))
	if err := CheckName(name); err != nil {
		return Folder{}, err
	}
	var content []byte
	if source.File != "" {
		content, err = readSource(source.File)
	}
	switch {
	case err != nil:
	case source.Program:
		made = example("program", name)
	case source.File == "":
		made = example("scale", name)
	case strings.EqualFold(filepath.Ext(source.File), ".py") && source.Tiles != nil:
		var described TileSource
		if described, err = source.Tiles(source.File, source.Entry); err == nil {
			made, err = FromTiles(name, source.File, described, source.Entry)
		}
	default:
		made, err = From(name, source.File, content, source.Entry)
	}
	if err == nil {
		err = Vacant(folder)
	}
	if err != nil {
		return Folder{}, err
	}
	paths, err := WriteFiles(folder, made.Files)
	for i, path := range paths {
		made.Files[i].Name = path
	}
	return made, err
}

// mostOfSource bounds a source, in bytes: what people write is far below.
const mostOfSource = 2 << 20

// readSource reads a regular file: others may have no end.
func readSource(file string) ([]byte, error) {
	about, err := os.Stat(file)
	if err == nil && (!about.Mode().IsRegular() || about.Size() > mostOfSource) {
		err = fmt.Errorf("%s: init reads a regular file of at most %d bytes", file, mostOfSource)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// Vacant returns an error for a folder that has anything in it: nothing is overwritten.
func Vacant(folder string) error {
	present, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(present) > 0 {
		return fmt.Errorf("%s is not empty: name a new folder", folder)
	}
	return nil
}

// WriteFiles writes files into a folder and returns their paths.
func WriteFiles(folder string, files []kernels.File) ([]string, error) {
	return page.WriteFiles(folder, collect.Each(files, func(f kernels.File) page.File {
		return page.File{Name: filepath.FromSlash(f.Name), Render: func(w io.Writer) error {
			_, err := w.Write(f.Content)
			return err
		}}
	})...)
}
