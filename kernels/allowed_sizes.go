package kernels

import (
	"maps"
	"slices"

	"pawl/internal/collect"
	"pawl/kernels/document"
	"pawl/space"
)

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
