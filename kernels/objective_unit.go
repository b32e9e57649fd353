package kernels

import (
	"cmp"
	"math"
	"slices"

	"pawl/kernels/document"
	"pawl/space"
)

// supposing evaluates an objective at a point, as if so much had been measured.
func (b *builder) supposing(o Objective, at space.Point, measured func(i int, q Quantity) float64) (float64, error) {
	env := b.kernel.Workloads[0].Dims.Environment()
	env.Set(at)
	for i, q := range o.Measured {
		env[q.Name] = measured(i, q)
	}
	return o.Formula.Number(env)
}

// around returns the default point and those that differ from it in one value.
func (b *builder) around() []space.Point {
	points := []space.Point{b.kernel.initial}
	for _, param := range b.kernel.params {
		for _, value := range param.Values {
			if other, err := b.kernel.initial.With(param.Name, value); err == nil {
				points = append(points, other)
			}
		}
	}
	return points
}

// sensible refuses an objective that has no value, or no other, whatever is measured: every
// point would fail, or all would be the same. One that has a value for some numbers is left
// to the measurement.
func (b *builder) sensible(o Objective, text document.Scalar) error {
	var first error
	var values []float64
	above := false
	for _, at := range b.around() {
		for _, base := range []float64{1e-3, 0.3, 1.5, 40, 700, 1e5} {
			value, err := b.supposing(o, at, func(i int, _ Quantity) float64 { return base * (1 + 0.37*float64(i)) })
			if err != nil {
				first = cmp.Or(first, err)
				continue
			}
			values = append(values, value)
			above = above || value > 0 && !math.IsInf(value, 0)
		}
	}
	switch {
	case len(values) == 0:
		return text.At.Errorf("%s, whatever is measured: every point would fail", first)
	case !above:
		return text.At.Errorf("%q comes to %g, whatever is measured: points are compared by ratios, so it must be a "+
			"number above 0", text.Text, values[0])
	case len(slices.Compact(values)) == 1:
		return text.At.Errorf("%q comes to %g, whatever is measured, so that all points would be the same", text.Text,
			values[0])
	}
	return nil
}

// unit is what a formula comes to: that of its quantities, if it doubles when they do. Any other has none.
func (b *builder) unit(o Objective) string {
	unit := o.Measured[0].Unit
	if slices.ContainsFunc(o.Measured, func(q Quantity) bool { return q.Unit != unit }) {
		return ""
	}
	for _, base := range []float64{1.5, 700} {
		at := func(scale float64) float64 {
			value, err := b.supposing(o, b.kernel.initial, func(i int, _ Quantity) float64 {
				return scale * (base + float64(i)/8)
			})
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
