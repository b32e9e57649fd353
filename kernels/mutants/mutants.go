// Package mutants holds wrong kernels: the embedded ones, each with one mistake
// put in. They test the tests: a check that lets one of them pass would let the
// like of it win a search.
//
// A mutant is a replacement in the text of an embedded kernel's source, so it
// keeps up with the kernel, and a replacement whose text has gone is an error.
// The package lives beside the kernels because it is text about them; it
// compiles and runs nothing. pawl fuzz --mutants prints which check catches
// which mutant.
package mutants

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pawl/kernels"
)

// Mutant is an embedded kernel with one mistake.
type Mutant struct {
	// Kernel is the embedded kernel's name and Backend whose source it changes.
	Kernel, Backend string
	// Name is short, What says what is wrong with it.
	Name, What string
	// Old occurs once in the kernel's source, and becomes New.
	Old, New string
	// At is the point at which the mistake shows; what it leaves out has its
	// default.
	At string
}

// All returns every mutant for a backend, kernel by kernel.
func All(backend string) []Mutant {
	return slices.DeleteFunc(slices.Concat(attention, matmul, attentionCUDA, attentionHopper), func(m Mutant) bool { return m.Backend != backend })
}

// Write puts the mutant's folder, manifest and all, into an empty one.
func (m Mutant) Write(dir string) error {
	k, err := kernels.Load(m.Kernel, m.Backend)
	if err != nil {
		return fmt.Errorf("mutant %s of %s: %w", m.Name, m.Kernel, err)
	}
	files := kernels.Files(m.Kernel)
	if err := os.CopyFS(dir, files); err != nil {
		return fmt.Errorf("mutant %s of %s: %w", m.Name, m.Kernel, err)
	}
	source, err := fs.ReadFile(files, k.Source)
	if err != nil {
		return fmt.Errorf("mutant %s of %s: %w", m.Name, m.Kernel, err)
	}
	if found := strings.Count(string(source), m.Old); found != 1 {
		return fmt.Errorf("mutant %s of %s: %s holds %d times what it replaces: bring the mutant up to date with the kernel", m.Name, m.Kernel, k.Source, found)
	}
	path := filepath.Join(dir, k.Source)
	if err := os.WriteFile(path, []byte(strings.Replace(string(source), m.Old, m.New, 1)), 0o644); err != nil {
		return fmt.Errorf("mutant %s of %s: %w", m.Name, m.Kernel, err)
	}
	return nil
}

// of completes mutants of one kernel for the host.
func of(kernel string, list []Mutant) []Mutant { return on(kernels.Host, kernel, list) }

// on completes mutants of one kernel for a backend.
func on(backend, kernel string, list []Mutant) []Mutant {
	for i := range list {
		list[i].Kernel, list[i].Backend = kernel, backend
	}
	return list
}
