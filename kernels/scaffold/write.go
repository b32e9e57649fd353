package scaffold

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pawl/internal/page"
)

// Source says what a new folder begins from: the zero Source is an example.
type Source struct {
	// File is a source to describe, Entry the function in it.
	File, Entry string
	// Tiles describes a File that only its own compiler can read; nil where there is none.
	Tiles func(file string) (TileSource, error)
	// Program asks for an example that is a program of its own.
	Program bool
}

// Write makes the folder of a new kernel, which is named after it: an example, or what is in
// a source. The files that it returns have their paths. Nothing is overwritten: the folder must not be there, or be
// empty.
func Write(folder string, source Source) (Folder, error) {
	name := filepath.Base(filepath.Clean(folder))
	if err := CheckName(name); err != nil {
		return Folder{}, err
	}
	made := Example(name)
	if source.Program {
		made = Program(name)
	}
	if strings.EqualFold(filepath.Ext(source.File), ".py") && source.Tiles != nil {
		described, err := source.Tiles(source.File)
		if err != nil {
			return Folder{}, err
		}
		if made, err = FromTiles(name, source.File, described, source.Entry); err != nil {
			return Folder{}, err
		}
	} else if source.File != "" {
		content, err := os.ReadFile(source.File)
		if err != nil {
			return Folder{}, err
		}
		if made, err = From(name, source.File, content, source.Entry); err != nil {
			return Folder{}, err
		}
	}
	present, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Folder{}, err
	}
	if len(present) > 0 {
		return Folder{}, fmt.Errorf("%s is not empty: name a new folder", folder)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return Folder{}, err
	}
	for i, file := range made.Files {
		path := filepath.Join(folder, file.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return Folder{}, err
		}
		made.Files[i].Name = path
		if err := page.WriteFile(path, func(w io.Writer) error { _, err := w.Write(file.Content); return err }); err != nil {
			return Folder{}, err
		}
	}
	return made, nil
}
