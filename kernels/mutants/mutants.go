// Package mutants holds wrong kernels: the embedded ones, and a small one of
// integers, each with one mistake put in. They test the tests: a check that lets one of them pass would let the
// like of it win a search.
//
// A mutant is a replacement in the text of an embedded kernel's source, or of its
// manifest, where stands what the copy engine is told. So it keeps up with the kernel,
// and a replacement whose text has gone is an error. The package lives beside the
// kernels because it is text about them; it compiles and runs nothing. pawl fuzz
// --mutants prints which check catches which mutant.
package mutants

import (
	"cmp"
	"embed"
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
	// Kernel is the kernel's name and Backend whose source it changes.
	Kernel, Backend string
	// Name is short, What says what is wrong with it.
	Name, What string
	// Workload is the workload whose code it changes; empty means the first.
	Workload string
	// File is the file that it changes; empty means the kernel's source.
	File string
	// Old occurs once in the file, and becomes New; so does End, and becomes NewEnd,
	// where a mistake needs two places.
	Old, New    string
	End, NewEnd string
	// Timed says that the mistake shows when the kernel is timed, and perhaps not
	// before.
	Timed bool
	// Tool is the sanitizer that alone sees the mistake, as a part of its name; empty
	// for one that shows in results.
	Tool string
	// At is the point at which the mistake shows; what it leaves out has its
	// default.
	At string
}

// All returns every mutant for a backend that results or timing show, kernel by kernel.
func All(backend string) []Mutant {
	all := slices.Concat(attention, matmul, tally, cheats,
		attentionCUDA, attentionCUDACheats, attentionHopper, attentionHopperFP8, attentionDecode, gemm, gemmGrouped,
		gemmMMA, rmsnorm, softmax, reduce, tallyCUDA)
	return slices.DeleteFunc(all, func(m Mutant) bool { return m.Backend != backend })
}

//go:embed tally
var own embed.FS

// Right puts the folder of the kernel that mutants are made from into an empty one.
func Right(kernel, dir string) error {
	files := kernels.Files(kernel)
	if !slices.Contains(kernels.Names(), kernel) {
		var err error
		if files, err = fs.Sub(own, kernel); err != nil {
			return err
		}
	}
	return os.CopyFS(dir, files)
}

// Write puts the mutant's folder, manifest and all, into an empty one.
func (m Mutant) Write(dir string) error {
	if err := Right(m.Kernel, dir); err != nil {
		return fmt.Errorf("mutant %s of %s: %w", m.Name, m.Kernel, err)
	}
	k, err := kernels.Load(dir, m.Backend)
	if err != nil {
		return fmt.Errorf("mutant %s of %s: %w", m.Name, m.Kernel, err)
	}
	file := cmp.Or(m.File, k.Source)
	path := filepath.Join(dir, file)
	source, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("mutant %s of %s: %w", m.Name, m.Kernel, err)
	}
	text := string(source)
	for _, change := range [][2]string{{m.Old, m.New}, {m.End, m.NewEnd}} {
		if change[0] == "" && change[1] == "" {
			continue
		}
		if found := strings.Count(text, change[0]); found != 1 {
			return fmt.Errorf("mutant %s of %s: %s holds %d times what it replaces: bring the mutant up to date with "+
				"the kernel", m.Name, m.Kernel, file, found)
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
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
