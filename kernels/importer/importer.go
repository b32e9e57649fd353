// Package importer describes kernels that another tuner was told about.
//
//  1. A script for Kernel Tuner is run with the user's own Python, in front of whose modules lies
//     one that stands in for the tuner: it records every call and launches nothing. A file in the
//     community's T1 format is read.
//  2. What was asked for becomes a description in pawl's words: parameters, restrictions, sizes,
//     arguments, launch.
//  3. The description becomes a kernel's folder. What has no exact counterpart is a gap: it has a
//     comment in the manifest, and [Folder] lists it. Nothing is guessed.
package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pawl/kernels"
	"pawl/kernels/scaffold"
)

// Folder is a kernel's folder that was written.
type Folder struct {
	// Path is the folder, Files are the paths of what was written.
	Path  string   `json:"path"`
	Files []string `json:"files"`
	// Gaps are what could not be carried over, each a sentence; Notes are what was changed on
	// the way without changing its meaning.
	Gaps  []string `json:"gaps"`
	Notes []string `json:"notes"`
}

// MistakeError says that nothing could be imported, and what to do.
type MistakeError struct{ Reason string }

func (e *MistakeError) Error() string { return e.Reason }

func mistake(format string, arguments ...any) error {
	return &MistakeError{fmt.Sprintf(format, arguments...)}
}

// array is the content of an argument that the other tuner had, as a file to copy.
type array struct{ name, path string }

// write writes a description into a folder that must be empty or not there; without a name it has the kernel's.
func (d *description) write(folder string) (*Folder, error) {
	if folder == "" {
		name, _, _ := strings.Cut(d.entry, "<")
		folder = strings.TrimSpace(name)
	}
	if err := scaffold.Vacant(folder); err != nil {
		return nil, mistake("%v", err)
	}
	d.name = filepath.Base(filepath.Clean(folder))
	if err := scaffold.CheckName(d.name); err != nil {
		return nil, err
	}
	d.repaired()
	manifest := d.manifest()
	if err := kernels.Check(kernels.ManifestName, []byte(manifest), d.backend); err != nil {
		return nil, mistake("what was recorded does not make a manifest: %v", err)
	}
	files := append([]kernels.File{{Name: kernels.ManifestName, Content: []byte(manifest)}}, d.files...)
	for _, a := range d.arrays {
		content, err := os.ReadFile(a.path)
		if err != nil {
			return nil, err
		}
		files = append(files, kernels.File{Name: a.name, Content: content})
	}
	paths, err := scaffold.WriteFiles(folder, files)
	if err != nil {
		return nil, err
	}
	return &Folder{Path: folder, Files: paths, Gaps: d.gaps, Notes: d.notes}, nil
}
