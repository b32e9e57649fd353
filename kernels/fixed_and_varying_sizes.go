package kernels

import (
	"fmt"
	"maps"
	"slices"

	"pawl/internal/collect"
	"pawl/kernels/arguments"
	"pawl/kernels/document"
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

// decided are the formulas over sizes that make another kernel of it: what the compiler gets,
// types and tolerances.
func (k *Kernel) decided() (all []arguments.Decision) {
	for _, d := range k.defines {
		d.What = "define " + d.What
		all = append(all, d)
	}
	return append(append(all, k.Arguments.Decisions()...), k.stated.Decisions("the tolerance")...)
}

func (k *Kernel) decidedBy() []*space.Expression {
	return collect.Each(k.decided(), func(d arguments.Decision) *space.Expression { return d.Value })
}

// For returns the kernel with the types and tolerances that it has for some sizes.
func (k *Kernel) For(dims Dims) (*Kernel, error) {
	varies := func(d arguments.Decision) bool { return len(d.Value.Names()) > 0 }
	if !slices.ContainsFunc(k.decided()[len(k.defines):], varies) {
		return k, nil
	}
	chosen, env := *k, dims.Environment()
	var err error
	if chosen.Arguments, err = k.Arguments.For(env); err != nil {
		return nil, k.unbound(dims, err)
	}
	if k.stated == nil {
		chosen.Tolerance = arguments.TypicalOf(chosen.Arguments)
	} else if chosen.Tolerance, err = k.stated.For(env); err != nil {
		return nil, fmt.Errorf("%s at %s: %w", k.Name, dims, err)
	}
	return &chosen, nil
}

// decided makes sure that what one binary has one value of does not depend on sizes that checks
// vary.
func (b *builder) decided() error {
	varied := b.kernel.Varying()
	for _, d := range b.kernel.decided() {
		for _, name := range d.Value.Names() {
			if slices.Contains(varied, name) {
				return d.At.Errorf("%s depends on %s, which the fuzz matrix varies: one binary cannot have several", d.What, name)
			}
		}
	}
	return nil
}

// Allows reports whether the kernel promises right results for a shape: every
// condition of the manifest's domain holds. A condition that cannot be
// evaluated, such as a division by zero, does not hold.
func (k *Kernel) Allows(dims Dims) bool { return hold(k.domain, dims.Environment()) }

func hold(conditions []*space.Expression, env space.Environment) bool {
	return !slices.ContainsFunc(conditions, func(c *space.Expression) bool {
		holds, err := c.Bool(env)
		return err != nil || !holds
	})
}

// AllowsAt reports whether the kernel also promises right results for a shape at
// the point whose environment is given: constraints may depend on sizes, and a
// point that they rule out at a shape need not work there.
func (k *Kernel) AllowsAt(point space.Environment, dims Dims) bool {
	if !k.Allows(dims) {
		return false
	}
	env := maps.Clone(point)
	maps.Copy(env, dims.Environment())
	return hold(k.constraints, env)
}

// Domain returns the conditions over the sizes under which the kernel is right, as written.
func (k *Kernel) Domain() (conditions []string) {
	return collect.Each(k.domain, (*space.Expression).Source)
}

// Conditions returns what decides at which sizes a point is right, and which points are valid at all.
func (k *Kernel) Conditions() []*space.Expression { return slices.Concat(k.domain, k.constraints) }

func (b *builder) domain() (err error) {
	if b.kernel.domain, err = document.CompileAll(b.dims, b.keys.Domain, space.Condition); err != nil {
		return err
	}
	for i, text := range b.keys.Domain {
		for _, w := range b.kernel.Workloads {
			if !hold(b.kernel.domain[i:i+1], w.Dims.Environment()) {
				return text.At.Errorf("domain: %s does not hold for workload %s (%s)", text.Text, w.Name, w.Dims)
			}
		}
	}
	return nil
}
