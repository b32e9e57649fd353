package kernels

import (
	"maps"

	"pawl/space"
)

// Allows reports whether the kernel promises right results for a shape: every
// condition of the manifest's domain holds. A condition that cannot be
// evaluated, such as a division by zero, does not hold.
func (k *Kernel) Allows(dims Dims) bool {
	env := dims.Environment()
	for _, condition := range k.domain {
		if holds, err := condition.Bool(env); err != nil || !holds {
			return false
		}
	}
	return true
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
	for _, constraint := range k.constraints {
		if holds, err := constraint.Bool(env); err != nil || !holds {
			return false
		}
	}
	return true
}

func (b *builder) domain() error {
	for _, text := range b.keys.Domain {
		e, err := b.dims.Compile(text.text, space.Condition)
		if err != nil {
			return text.expressionError(err)
		}
		b.kernel.domain = append(b.kernel.domain, e)
		for _, w := range b.kernel.Workloads {
			if holds, err := e.Bool(w.Dims.Environment()); err != nil || !holds {
				return text.at.errorf("domain: %s does not hold for workload %s (%s)", text.text, w.Name, w.Dims)
			}
		}
	}
	return nil
}
