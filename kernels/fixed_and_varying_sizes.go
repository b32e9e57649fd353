package kernels

import (
	"maps"
	"slices"

	"pawl/internal/collect"
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
	formulas = append(formulas, k.decidedBy()...)
	return collect.Where(slices.Sorted(maps.Keys(space.NamesOf(formulas...))), func(name string) bool {
		_, size := k.Workloads[0].Dims[name]
		return size
	})
}

// Varying returns the dimensions whose sizes vary when results are checked, sorted:
// those of the manifest's fuzz section or, where there is none, those that the kernel
// gets as an argument. A dimension that no argument's value depends on may be a number
// in its source, and one without an extent may be a switch.
func (k *Kernel) Varying() []string {
	if !k.Unfuzzed {
		return slices.Sorted(maps.Keys(k.Fuzz))
	}
	var values []*space.Expression
	for _, a := range k.Arguments {
		values = append(values, a.Formulas()...)
	}
	passed := space.NamesOf(values...)
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
	var formulas []*space.Expression
	for _, a := range k.Arguments {
		formulas = append(formulas, of(a)...)
	}
	found := space.NamesOf(formulas...)
	for _, name := range k.Arguments.Parameters() {
		delete(found, name)
	}
	for name := range space.NamesOf(k.decidedBy()...) {
		delete(found, name)
	}
	return slices.Sorted(maps.Keys(found))
}

// LargestSize returns the largest size of a dimension among the workloads.
func (k *Kernel) LargestSize(name string) int64 {
	return slices.Max(collect.Each(k.Workloads, func(w Workload) int64 { return w.Dims[name] }))
}

func (k *Kernel) decidedBy() []*space.Expression {
	return collect.Each(k.decided(), func(d arguments.Decision) *space.Expression { return d.Value })
}
