// Package inputs says what the buffers of a kernel hold when it is checked and timed.
//
// The content is a recipe and not bytes: each element is a function of the seed, the
// argument's name and the element's index alone. So the host fills a buffer on any
// number of cores, a GPU fills it itself, and both get the same bits.
//
//  1. NewRecipe turns an argument's fill (normal, one-hot, sorted...) and a seed into
//     a Recipe.
//  2. Fill computes it here; the support code of a device computes it there.
package inputs

import (
	"fmt"
	"hash/fnv"
	"math"
	"sync"

	"pawl/kernels/arguments"
)

// Recipe says how the content of a buffer is computed. An element depends on
// nothing but its index, because the generator counts and has no state: so any
// number of cores can share the work, and a device can do it itself.
//
// A device must give every element the same bits as draw does. Nothing here is
// rounded in a way that depends on the processor: products are rounded before
// they are added to.
type Recipe struct {
	Kind Kind
	// Stream is the state of the generator.
	Stream uint64
	// Row is the number of elements that belong together, at least 1.
	Row uint64
	// Scale is the magnitude: a factor, a constant or the smallest step.
	Scale float64
	// Low is the smallest number that an integer may be, Low + Span the largest. Of
	// floats in a range they are the bits of both ends.
	Low  int64
	Span uint64
	// Pattern changes floats by their place, which Places divides the index into.
	Pattern Pattern
	Places  arguments.Pattern
}

// Kind is a distribution of elements. The numbers are those of support.cu.
type Kind uint64

// The kinds of content.
const (
	Constant       Kind = iota // Scale
	Integers                   // from Low to Low + Span
	NormalNumbers              // times Scale
	UniformReals               // between -1 and 1
	SignsOnly                  // -1 or 1
	HotRows                    // a single 1 in every row
	Ties                       // 1 to 1 + 3 Scale
	Subnormals                 // half of them below Scale, the others normal numbers
	SignedRows                 // rows of Scale, a quarter of them negative
	RangeEnds                  // the integers at the ends of the range, around 0, and any
	PowersOfTwo                // integers beside a power of two below 2^Row
	SmallIntegers              // the nine integers around 0
	FewIntegers                // one integer, and now and then one of four others
	RisingRows                 // integers that never fall along a row
	FallingRows                // integers that never rise along a row
	BellIntegers               // normal numbers times Scale around the middle of the range
	Reals                      // between Low and Span, which are bits of floats, Scale apart
	BellReals                  // a bell around the middle of them
	RealEnds                   // both ends, what is next to 0, and any
	FewReals                   // one number, and now and then one of four others
	RisingReals                // numbers that never fall along a row
	FallingReals               // numbers that never rise along a row
	SkewedIntegers             // integers most of which are near the low end of the range
)

// overflowing is the least magnitude of the fill of that name: two rows of it have a
// product of 64 per element, which no exponential survives for long, and which
// is exact in every type. An argument that states larger ones gets those: a kernel that
// takes exponentials of its input itself does not mind an 8.
const overflowing = 8

// NewRecipe returns the recipe of an input.
func NewRecipe(argument arguments.Binding, seed uint64) (Recipe, error) {
	element := argument.Element()
	if argument.Seed != nil {
		seed = *argument.Seed
	}
	r := Recipe{Stream: uint64(newStream(seed, argument.Name)), Row: uint64(max(argument.Row, 1))}
	if !element.Float {
		return r.ofIntegers(argument, element)
	}
	if p := argument.Pattern; p != nil {
		r.Pattern, r.Places = patternNumbers[p.Kind], *p
		if r.Pattern == NoPattern {
			return r, fmt.Errorf("argument %s: no kind of data %q", argument.Name, p.Kind)
		}
	}
	if _, bounded := realFills[argument.Fill]; argument.Bounds != nil ||
		bounded && argument.Fill != arguments.Normal && argument.Fill != arguments.Uniform {
		return r.ofReals(argument)
	}
	switch argument.Fill {
	case arguments.ConstantFill, arguments.Initial:
		return r.of(Constant, argument.Value), nil
	case arguments.Large:
		return r.of(NormalNumbers, argument.Large), nil
	case arguments.Overflow:
		return r.of(SignedRows, max(argument.Large, overflowing)), nil
	case arguments.NearTies:
		return r.of(Ties, element.Step()), nil
	case arguments.Denormals:
		return r.of(Subnormals, math.Ldexp(1, element.Least)), nil
	}
	known, ok := floatFills[argument.Fill]
	if !ok {
		return r, fmt.Errorf("argument %s: no fill %q", argument.Name, argument.Fill)
	}
	return r.of(known.kind, known.scale), nil
}

// floatFills are the fills whose scale does not depend on the argument.
var floatFills = map[string]struct {
	kind  Kind
	scale float64
}{
	"zeros": {Constant, 0}, "ones": {Constant, 1}, arguments.Normal: {NormalNumbers, 1},
	arguments.Uniform: {UniformReals, 1},
	arguments.Signs:   {SignsOnly, 1}, arguments.OneHot: {HotRows, 1},
}

func (r Recipe) of(kind Kind, scale float64) Recipe {
	r.Kind, r.Scale = kind, scale
	return r
}

func (r Recipe) draw(first uint64, values []float64) {
	if r.Kind == NormalNumbers && r.Pattern == NoPattern { // most content: no switch for each element
		table := Quantiles()
		for k := range values {
			values[k] = r.Scale * normal(table, r.at(first+uint64(k)))
		}
		return
	}
	for k := range values {
		values[k] = r.element(first + uint64(k))
	}
}

func (r *Recipe) at(i uint64) uint64 { return stream(r.Stream).at(i) }

func (r *Recipe) element(i uint64) float64 {
	if r.Pattern != NoPattern {
		return r.patterned(i)
	}
	return r.plain(i)
}

// plain is an element without the recipe's pattern.
func (r *Recipe) plain(i uint64) float64 {
	switch r.Kind {
	case NormalNumbers:
		return r.Scale * normal(Quantiles(), r.at(i))
	case Constant:
		return r.Scale
	case UniformReals:
		return 2*fraction(r.at(i)) - 1
	case SignsOnly:
		return sign(r.at(i))
	case HotRows:
		return float64(r.integer(i))
	case Ties:
		return 1 + float64(r.Scale*float64(r.at(i)&3))
	case Subnormals:
		drawn := r.at(i)
		if drawn&1 == 0 {
			return sign(drawn>>1) * r.Scale * fraction(drawn)
		}
		return normal(Quantiles(), drawn)
	case Reals, BellReals, RealEnds, FewReals, RisingReals, FallingReals:
		return r.real(i)
	default: // all elements of a row have one sign, so that sums over rows grow as well
		if r.at(i/r.Row)%4 == 0 {
			return -r.Scale
		}
		return r.Scale
	}
}

// stream is a counter-based generator: 64 random bits for every index. It
// mixes as SplitMix64 does (Steele, Lea and Flood 2014, "Fast splittable
// pseudorandom number generators").
type stream uint64

func newStream(seed uint64, name string) stream {
	hash := fnv.New64a()
	hash.Write([]byte(name))
	return stream(stream(seed).at(hash.Sum64()))
}

func (s stream) at(i uint64) uint64 {
	x := uint64(s) + (i+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fraction returns a number in [0, 1) from the upper 52 bits.
func fraction(bits uint64) float64 { return unit(bits >> 12) }

func sign(bits uint64) float64 { return 1 - 2*float64(bits&1) }

// unit returns a number in [0, 1) from the lower 52 bits: they become the
// mantissa of a number in [1, 2).
func unit(bits uint64) float64 {
	return math.Float64frombits(bits&(1<<52-1)|1023<<52) - 1
}

// cells is how many parts of equal probability the normal distribution has in
// the table, and how many each of its two outermost parts is divided into again.
// Inside a part the density is taken for flat. The outermost of the outermost
// end at 5.5 standard deviations.
const cells = 1 << 12

// Quantiles is the table that normal numbers are interpolated in: the borders of
// all cells, then of those in the lowest cell, then of those in the highest.
var Quantiles = sync.OnceValue(func() []float64 {
	table := make([]float64, 3*(cells+1))
	inner, lowest, highest := table[:cells+1], table[cells+1:2*(cells+1)], table[2*(cells+1):]
	quantile := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
	for i := 1; i < cells; i++ {
		inner[i] = quantile(float64(i) / cells)
	}
	lowest[0] = quantile(0.5 / cells / cells)
	for i := 1; i <= cells; i++ {
		lowest[i] = quantile(float64(i) / cells / cells)
	}
	for i := range highest {
		highest[i] = -lowest[cells-i]
	}
	return table
})

// normal turns random bits into a normal number. The first twelve choose the
// cell, the others the place in it; the outermost cells are chosen in again.
func normal(table []float64, bits uint64) float64 {
	cell, rest := bits>>52, bits<<12
	if cell == 0 || cell == cells-1 {
		base := uint64(cells + 1)
		if cell != 0 {
			base *= 2
		}
		cell, rest = base+bits<<12>>52, bits<<24
	}
	low, high := table[cell], table[cell+1]
	return low + float64(unit(rest>>12)*(high-low))
}
