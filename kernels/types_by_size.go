package kernels

import (
	"fmt"
	"slices"

	"pawl/kernels/arguments"
)

// decided are the formulas over sizes that make another kernel of it: what the compiler gets,
// types and tolerances.
func (k *Kernel) decided() (all []arguments.Decision) {
	for _, d := range k.defines {
		d.What = "define " + d.What
		all = append(all, d)
	}
	return append(append(all, k.Arguments.Decisions()...), k.stated.Decisions("the tolerance")...)
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
