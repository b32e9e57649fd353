package kernels

import (
	"math"
	"slices"
)

// unit is what a formula comes to: that of its quantities, if it doubles when they do. Any other has none.
func (b *builder) unit(o Objective) string {
	unit := o.Measured[0].Unit
	if slices.ContainsFunc(o.Measured, func(q Quantity) bool { return q.Unit != unit }) {
		return ""
	}
	env := b.kernel.Workloads[0].Dims.Environment()
	env.Set(b.kernel.initial)
	for _, base := range []float64{1.5, 700} {
		at := func(scale float64) float64 {
			for i, q := range o.Measured {
				env[q.Name] = scale * (base + float64(i)/8)
			}
			value, err := o.Formula.Number(env)
			if err != nil {
				return math.NaN()
			}
			return value
		}
		if !(math.Abs(at(2)/at(1)-2) < 1e-6) {
			return ""
		}
	}
	return unit
}
