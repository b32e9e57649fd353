package inputs

import (
	"fmt"
	"math"
	"math/bits"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
)

// ofIntegers completes the recipe of an input of integers. Whatever the fill, they
// stay in the argument's range.
func (r Recipe) ofIntegers(argument arguments.Binding, element element.Type) (Recipe, error) {
	r.Low, r.Span = rangeOf(argument, element)
	switch argument.Fill {
	case "zeros":
		r.Low, r.Span = 0, 0
	case "ones":
		r.Low, r.Span = 1, 0
	case arguments.ConstantFill, arguments.Initial:
		r.Low, r.Span = argument.Integer, 0
	}
	kind, known := integerFills[argument.Fill]
	switch {
	case !known:
		return r, fmt.Errorf("argument %s: no fill %q for %s", argument.Name, argument.Fill, argument.Type)
	case kind == BellIntegers:
		return r.of(kind, float64(r.Span)/8), nil
	case kind == PowersOfTwo:
		high := uint64(r.Low) + r.Span
		if r.Low < 0 {
			high = magnitude(int64(high))
		}
		r.Row = uint64(max(bits.Len64(magnitude(r.Low)), bits.Len64(high), 1))
	}
	return r.of(kind, 0), nil
}

// rangeOf is the smallest number of an input of integers, and how far the largest is from it.
func rangeOf(argument arguments.Binding, element element.Type) (low int64, span uint64) {
	if argument.Range != nil {
		return argument.Range.Low, uint64(argument.Range.High) - uint64(argument.Range.Low)
	}
	return element.Span()
}

var integerFills = map[string]Kind{
	"zeros": Integers, "ones": Integers, arguments.ConstantFill: Integers, arguments.Initial: Integers,
	arguments.OneHot: HotRows, arguments.Uniform: Integers, arguments.Normal: BellIntegers, arguments.Extremes: RangeEnds,
	arguments.Powers: PowersOfTwo, arguments.Small: SmallIntegers, arguments.Repeated: FewIntegers,
	arguments.Sorted: RisingRows, arguments.Reversed: FallingRows, arguments.Skewed: SkewedIntegers,
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// integer computes an element of an integer type. Sums wrap around, here and on a
// device; what has left the range by that is brought back.
func (r *Recipe) integer(i uint64) int64 {
	drawn := r.at(i)
	switch r.Kind {
	case RangeEnds:
		return r.end(r.turn(i, 8), drawn)
	case PowersOfTwo:
		which := r.turn(i, 6*r.Row)
		power := int64(uint64(1)<<(which/6)) + int64(which%3) - 1
		if which%6 < 3 {
			power = -power
		}
		if r.inRange(power) {
			return power
		}
		return r.any(drawn)
	case SmallIntegers:
		return r.Low + int64(r.around(uint64(r.nearest(0))-uint64(r.Low), drawn%9))
	case FewIntegers:
		return r.any(r.few(drawn))
	case RisingRows:
		return r.rising(i%r.Row, drawn)
	case FallingRows:
		return r.rising(r.Row-1-i%r.Row, drawn)
	case HotRows:
		if i%r.Row == r.at(i/r.Row)%r.Row {
			return 1
		}
		return 0
	case SkewedIntegers: // each is below a bound that is halved up to 15 times
		if below := r.Span >> (r.at(^i) % 16); below != math.MaxUint64 {
			return r.Low + int64(drawn%(below+1))
		}
		return r.any(drawn)
	case BellIntegers:
		distance := math.RoundToEven(r.Scale * normal(Quantiles(), drawn))
		if math.Abs(distance) < 4*r.Scale {
			if n := r.Low + int64(r.Span/2) + int64(distance); r.inRange(n) {
				return n
			}
		}
		return r.any(drawn)
	default:
		return r.any(drawn)
	}
}

// turn is which of n numbers an element is: each of them once in n elements, so that
// none is left out by chance, from another one on each time, so that none keeps its
// place in a vector.
func (r *Recipe) turn(i, n uint64) uint64 { return (i + r.at(i/n)%n) % n }

// few returns the bits of one number, and now and then those of one of four others.
func (r *Recipe) few(drawn uint64) uint64 {
	which := uint64(0)
	if drawn%32 == 0 {
		which = 1 + drawn>>5%4
	}
	return r.at(^which)
}

func (r *Recipe) any(drawn uint64) int64 {
	if r.Span == math.MaxUint64 {
		return int64(drawn)
	}
	return r.Low + int64(drawn%(r.Span+1))
}

func (r *Recipe) inRange(n int64) bool { return uint64(n)-uint64(r.Low) <= r.Span }

// nearest is the number of the range that is next to n.
func (r *Recipe) nearest(n int64) int64 {
	switch {
	case r.inRange(n):
		return n
	case n < r.Low:
		return r.Low
	}
	return r.Low + int64(r.Span)
}

// around is an offset from Low by four less than so many, as far as the range goes.
func (r *Recipe) around(offset, more uint64) uint64 {
	if offset+more < 4 {
		return 0
	}
	return min(offset+more-4, r.Span)
}

// end is one of the numbers at which kernels go wrong, or any.
func (r *Recipe) end(which, drawn uint64) int64 {
	if which == 6 {
		return r.any(drawn)
	}
	high := r.Low + int64(r.Span)
	return r.nearest([...]int64{r.Low, r.Low + 1, high, high - 1, 1, -1, 0, 0}[which])
}

// rising is the number at a place of a row of numbers that never fall: each has a
// part of the range to itself, or shares a number with its neighbors.
func (r *Recipe) rising(place, drawn uint64) int64 {
	if r.Span >= r.Row {
		part := r.Span / r.Row
		return r.Low + int64(place*part+drawn%part)
	}
	return r.Low + int64(place/(r.Row/(r.Span+1)+1))
}
