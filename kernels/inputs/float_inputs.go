package inputs

import (
	"fmt"
	"math"

	"pawl/kernels/arguments"
)

// ofReals completes the recipe of an input of floats between bounds. Low and Span hold the
// bits of both ends: the sum of one and a distance may miss the other by a step.
func (r Recipe) ofReals(argument arguments.Binding) (Recipe, error) {
	bounds := arguments.Bounds{Low: -1, High: 1}
	if argument.Bounds != nil {
		bounds = *argument.Bounds
	}
	kind, known := realFills[argument.Fill]
	if !known {
		return r, fmt.Errorf("argument %s: no fill %q in a range", argument.Name, argument.Fill)
	}
	r.Low, r.Span = int64(math.Float64bits(bounds.Low)), math.Float64bits(bounds.High)
	return r.of(kind, bounds.High-bounds.Low), nil
}

var realFills = map[string]Kind{
	arguments.Uniform: Reals, arguments.Normal: BellReals, arguments.Extremes: RealEnds, arguments.Repeated: FewReals,
	arguments.Sorted: RisingReals, arguments.Reversed: FallingReals,
}

// real computes an element of a float type between bounds.
func (r *Recipe) real(i uint64) float64 {
	low, high := math.Float64frombits(uint64(r.Low)), math.Float64frombits(r.Span)
	drawn := r.at(i)
	share := fraction(drawn)
	switch r.Kind {
	case RealEnds:
		switch r.turn(i, 4) {
		case 0:
			return low
		case 1:
			return high
		case 2:
			return min(max(low, 0), high)
		}
	case FewReals:
		which := uint64(0)
		if drawn%32 == 0 {
			which = 1 + drawn>>5%4
		}
		share = fraction(r.at(^which))
	case RisingReals:
		share = (float64(i%r.Row) + share) / float64(r.Row)
	case FallingReals:
		share = (float64(r.Row-1-i%r.Row) + share) / float64(r.Row)
	}
	return min(low+float64(r.Scale*share), high)
}

func (r *Recipe) bell(table []float64, first uint64, values []float64) {
	low, high := math.Float64frombits(uint64(r.Low)), math.Float64frombits(r.Span)
	for k := range values {
		share := min(max(0.5+float64(0.125*normal(table, r.at(first+uint64(k)))), 0), 1)
		values[k] = min(low+float64(r.Scale*share), high)
	}
}
