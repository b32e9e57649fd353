package inputs

import (
	"cmp"
	"fmt"
	"math"

	"pawl/kernels/arguments"
)

// ofReals completes the recipe of an input of floats between bounds. Low and Span hold the
// bits of both ends: the sum of one and a distance may miss the other by a step.
func (r Recipe) ofReals(argument arguments.Binding) (Recipe, error) {
	bounds := boundsOf(argument)
	kind, known := realFills[argument.Fill]
	if !known {
		return r, fmt.Errorf("argument %s: no fill %q in a range", argument.Name, argument.Fill)
	}
	r.Low, r.Span = int64(math.Float64bits(bounds.Low)), math.Float64bits(bounds.High)
	return r.of(kind, bounds.High-bounds.Low), nil
}

func boundsOf(argument arguments.Binding) arguments.Bounds {
	return *cmp.Or(argument.Bounds, &arguments.Bounds{Low: -1, High: 1})
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
	case BellReals:
		share = min(max(0.5+float64(0.125*normal(Quantiles(), drawn)), 0), 1)
	case FewReals:
		share = fraction(r.few(drawn))
	case RisingReals:
		share = (float64(i%r.Row) + share) / float64(r.Row)
	case FallingReals:
		share = (float64(r.Row-1-i%r.Row) + share) / float64(r.Row)
	}
	return min(low+float64(r.Scale*share), high)
}
