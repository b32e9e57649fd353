// Package kernels answers what is tuned: a kernel is a folder with a manifest
// (kernel.yaml), its sources and a plain reference.
//
// Reading a kernel goes in three steps:
//
//  1. decode reads the manifest strictly: an unknown key is an error.
//  2. build merges a backend's section over the common keys, compiles every
//     expression and checks every name, so that what comes out is usable
//     without further checks.
//  3. Load finds the folder, the user's or an embedded one, and makes sure
//     that its files stay inside it.
//
// Every mistake is reported with file, line, column and the offending text.
// The package compiles and runs nothing.
package kernels

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels/arguments"
	"pawl/space"
)

// Kernel is a kernel as one backend sees it, in parts by who reads them. It is immutable.
type Kernel struct {
	Name    string
	Summary string
	Backend string
	// Dir is the folder on disk that holds the sources. It is empty for an
	// embedded kernel: see Materialise.
	Dir string
	// Origin is how a user names this kernel: an embedded name or a folder.
	Origin string
	Compilation
	Verification
	// Workloads are in the order of the manifest; the first is the default.
	Workloads []Workload
	Arguments arguments.List
	Launch    Launch
	Work      Work
	// Commands are the programs of a kernel that is run and not called; nil for others.
	Commands *Commands
	// Objectives are what is minimized: the first decides, and all are shown. None is the time.
	Objectives []Objective
	// Requirements are what must hold of what was measured.
	Requirements []Requirement
	// Rivals are programs to measure the kernel against, in the order of the manifest.
	Rivals []Rival

	defines []arguments.Decision // constants that the compiler gets from the sizes of a workload, by name
	manifestFiles
	points
}

// Compilation is what compilers read.
type Compilation struct {
	// Entry is the function's name in Source and in Reference.
	Entry string
	// Source is a file name inside Dir. Units are further files, compiled on their own and linked
	// with it; Include are folders in which all of them look for what they include.
	Source         string
	Units, Include []string
	// Flags go to the compiler without a shell, with the point's values in them ([FlagsAt]).
	Flags []string
	// Compile makes an object file or a static library of Source, in the place of the C compiler, with names in braces
	// ([CommandLine], [ObjectValues]); empty where that compiles.
	Compile []string
	// ArchSpecific asks for code that only the device's own architecture runs
	// (sm_90a instead of sm_90), for instructions that need it.
	ArchSpecific bool
	// Architecture is the only one that has those instructions, such as sm_90a; empty
	// where the manifest names none.
	Architecture string
}

// Verification is what says whether results are right.
type Verification struct {
	// Reference is a file name inside Dir.
	Reference string
	// ReferenceParams are the parameters that the result depends on, by name: those that the
	// reference is given.
	ReferenceParams []string
	// Fuzz holds the sizes of the correctness matrix by dimension.
	Fuzz      map[string][]int64
	Tolerance arguments.Tolerance

	// kinds are the kinds of data that may occur, beside the declared one; nil means all.
	kinds []string
	// Unfuzzed says that the manifest has no fuzz section at all.
	Unfuzzed bool
	// TileReference says that the reference is a kernel on tiles too, perhaps the kernel at its default point.
	TileReference bool
	stated        *arguments.Stated // the tolerance; nil where the manifest has none
}

// manifestFiles are what the manifest says about files for any backend: the kernel's digest is the same for all.
type manifestFiles struct {
	named    []string // those that it names
	suffixes []string // of sources that commands compile
	flags    []string
	data     []string // those with the contents of arguments
}

// points are what the space of a workload is made of.
type points struct {
	params      []space.Param
	initial     space.Point
	start       []space.Point // what a search tries first
	bound       space.Point   // what arguments are bound at; none for the default
	constraints []*space.Expression
	domain      []*space.Expression
}

// Workload is a named choice of sizes.
type Workload struct {
	Name string
	Dims Dims
}

// Dims are the sizes of a problem by dimension.
type Dims map[string]int64

// String returns the sizes sorted by name, such as B=1,S=256.
func (d Dims) String() string {
	return strings.Join(collect.Each(slices.Sorted(maps.Keys(d)), func(name string) string {
		return fmt.Sprintf("%s=%d", name, d[name])
	}), ",")
}

// Environment returns the sizes for evaluating expressions.
func (d Dims) Environment() space.Environment {
	env := make(space.Environment, len(d))
	for name, size := range d {
		env[name] = int(size)
	}
	return env
}

// Work holds the formulas of the work that one launch does. Either may be nil.
type Work struct {
	Flops, Bytes *space.Expression
}

// Varies says that the work depends on parameters: points of a workload do different work.
func (w Work) Varies(dims Dims) bool {
	for name := range space.NamesOf(w.Flops, w.Bytes) {
		if _, size := dims[name]; !size {
			return true
		}
	}
	return false
}

// For evaluates the formulas for a point of a workload; 0 stands for one that is not given.
func (w Work) For(dims Dims, point space.Point) (flops, bytes float64, err error) {
	env := dims.Environment()
	env.Set(point)
	if flops, err = w.Flops.Number(env); err == nil {
		bytes, err = w.Bytes.Number(env)
	}
	return flops, bytes, err
}

// IsProduct says that a launch multiplies matrices: two of its inputs are matrices, and there is a size with which its
// flops grow faster than its bytes. Pairs of bodies have such a size too, but inputs of one dimension.
func (k *Kernel) IsProduct(w Workload, point space.Point) bool {
	named := func(size *space.Expression) bool { return len(size.Names()) > 0 }
	matrices := collect.Where(k.Arguments, func(a arguments.Argument) bool {
		return a.Element.Float && (!a.Out || a.Inout) && !a.Scratch && len(collect.Where(a.Shape, named)) >= 2
	})
	flops, bytes, err := k.Work.For(w.Dims, point)
	if err != nil || flops <= 0 || bytes <= 0 || len(matrices) < 2 {
		return false
	}
	for name, size := range w.Dims {
		larger := maps.Clone(w.Dims)
		larger[name] = 2 * size
		more, moved, err := k.Work.For(larger, point)
		// Of three matrices each size is one of two: in one of the sizes the bytes grow by 5/3 at most. A rest of 1/5.
		if err == nil && more >= 2*flops && more/flops > 1.15*moved/bytes {
			return true
		}
	}
	return false
}

// Workload returns the workload of a name, or the one of some sizes such as B=8+S=384; the
// empty name is the default.
func (k *Kernel) Workload(name string) (Workload, error) {
	if name == "" {
		return k.Workloads[0], nil
	}
	if w, there := collect.First(k.Workloads, func(w Workload) bool { return w.Name == name }); there {
		return w, nil
	}
	if strings.Contains(name, "=") {
		return k.sized(name)
	}
	names := collect.Each(k.Workloads, func(w Workload) string { return w.Name })
	return Workload{}, fmt.Errorf("kernel %s has no workload %q; there are %s", k.Name, name, strings.Join(names, ", "))
}

// Default returns the point that everything is compared with.
func (k *Kernel) Default() space.Point { return k.initial }

// Space returns the space of the kernel for a workload: constraints may depend
// on its sizes.
func (k *Kernel) Space(w Workload) (*space.Space, error) {
	s, err := space.New(k.params, k.constraints, w.Dims)
	if err != nil {
		return nil, fmt.Errorf("kernel %s, workload %s: %w", k.Name, w.Name, err)
	}
	return s, nil
}
