package kernels

import (
	"maps"
	"slices"

	"pawl/kernels/arguments"
	"pawl/space"
)

// FixedSizes returns the dimensions that decide what the compiler gets, which points are
// valid, or what a block of threads needs, in the order of their names. A point that works at
// one of their sizes is not known to work at another.
func (k *Kernel) FixedSizes() []string {
	formulas := slices.Clone(k.constraints)
	for _, step := range k.Launch.Steps {
		formulas = append(append(formulas, step.Block...), step.Shared, step.Threads)
	}
	for _, d := range k.decided() {
		formulas = append(formulas, d.Value)
	}
	var fixed []string
	for _, f := range formulas {
		if f == nil {
			continue
		}
		for _, name := range f.Names() {
			if _, size := k.Workloads[0].Dims[name]; size && !slices.Contains(fixed, name) {
				fixed = append(fixed, name)
			}
		}
	}
	slices.Sort(fixed)
	return fixed
}

// Varying returns the dimensions whose sizes vary when results are checked, sorted:
// those of the manifest's fuzz section or, where there is none, those that the kernel
// gets as an argument. A dimension that no argument's value depends on may be a number
// in its source, and one without an extent may be a switch.
func (k *Kernel) Varying() []string {
	if !k.Unfuzzed {
		return slices.Sorted(maps.Keys(k.Fuzz))
	}
	passed := map[string]bool{}
	for _, a := range k.Arguments {
		for _, value := range a.Formulas() {
			for _, name := range value.Names() {
				passed[name] = true
			}
		}
	}
	pinned := k.Arguments.Pinned()
	return slices.DeleteFunc(k.Extents(), func(name string) bool { return !passed[name] || pinned[name] || k.Answered() })
}

// Extents returns the dimensions that the shape of a buffer depends on and that are
// no constants of the compiled kernel, sorted.
func (k *Kernel) Extents() []string {
	return k.sizes(func(a arguments.Argument) []*space.Expression { return a.Shape })
}

// Sizes are those that a buffer's shape or the value of an argument depends on, sorted.
func (k *Kernel) Sizes() []string {
	return k.sizes(func(a arguments.Argument) []*space.Expression { return append(a.Formulas(), a.Shape...) })
}

func (k *Kernel) sizes(of func(arguments.Argument) []*space.Expression) []string {
	found := map[string]bool{}
	for _, a := range k.Arguments {
		for _, size := range of(a) {
			for _, name := range size.Names() {
				found[name] = true
			}
		}
		for _, name := range a.Parameters {
			delete(found, name)
		}
	}
	for _, d := range k.decided() {
		for _, name := range d.Value.Names() {
			delete(found, name)
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// LargestSize returns the largest size of a dimension among the workloads.
func (k *Kernel) LargestSize(name string) int64 {
	largest := int64(0)
	for _, w := range k.Workloads {
		largest = max(largest, w.Dims[name])
	}
	return largest
}
