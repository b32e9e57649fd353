package arguments

import (
	"math"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels/document"
)

// The kinds of data: ways in which real tensors differ from independent numbers, to which the time of a kernel must not
// be fitted. Each is a family of inputs too. The first five are patterns over the normal or uniform numbers of an
// input of floats: its range holds, and no magnitude is beyond that of the family large. The families sorted, repeated
// and even-rows are kinds as well.
const (
	Scaled   = "scaled"   // slices whose scales differ by up to 64 times
	Growing  = "growing"  // magnitudes grow along the sequence, up to 64 times
	Channels = "channels" // one channel of 32 is eight times as large as the others
	Sparse   = "sparse"   // three quarters are exactly 0
	Ties     = "ties"     // eight numbers, again and again
	Skewed   = "skewed"   // most integers are near the low end of their range; most rows are short, and a few long
)

// patterns are the kinds that change what an input is filled with.
var patterns = []string{Scaled, Growing, Channels, Sparse, Ties}

// Kinds are the kinds of data beside the declared one, in the order in which they are measured.
var Kinds = append(slices.Clone(patterns), Skewed, EvenRows, Sorted, Repeated)

// Pattern is how a kind of data changes the numbers of a float input. Each is moved towards the number of its range
// that is next to 0, by a factor that depends on where it is: in which row (the last dimension), at which place of the
// sequence (the longest of the others), and in which slice (all that is left). A buffer of one dimension is a sequence.
type Pattern struct {
	Kind string `json:"kind"`
	// Row is the number of elements of a row, Between that of rows from one place of the sequence to the next,
	// Sequence that of places, Slices that of slices.
	Row      uint64 `json:"row"`
	Between  uint64 `json:"between"`
	Sequence uint64 `json:"sequence"`
	Slices   uint64 `json:"slices"`
	// Top is the largest factor, a power of two.
	Top float64 `json:"top"`
}

// largestFactor is the most by which a kind of data raises magnitudes, where large says that the tolerance is made for
// them.
const largestFactor = 8

// pattern is how a kind changes a bound input.
func (b Binding) pattern(kind string) *Pattern {
	p := Pattern{Kind: kind, Row: 1, Between: 1, Sequence: 1, Slices: 1, Top: 1}
	if b.Bounds == nil {
		p.Top = min(math.Exp2(math.Floor(math.Log2(max(b.Large, 1)))), largestFactor)
	}
	dimensions := b.shape
	for len(dimensions) > 1 && int64(p.Row) < b.Row { // the last, and the lanes of what has several numbers
		p.Row *= uint64(dimensions[len(dimensions)-1])
		dimensions = dimensions[:len(dimensions)-1]
	}
	longest := 0
	for i, n := range dimensions {
		if n >= dimensions[longest] {
			longest = i
		}
	}
	for i, n := range dimensions {
		size := uint64(max(n, 1))
		if i == longest {
			p.Sequence = size
			continue
		}
		if p.Slices *= size; i > longest {
			p.Between *= size
		}
	}
	p.Row = max(p.Row, 1)
	return &p
}

// kinds are the kinds of data that an input may be of.
func (a Argument) kinds() (kinds []string) {
	for _, family := range []string{Sorted, Repeated, EvenRows} {
		if a.takes(family) {
			kinds = append(kinds, family)
		}
	}
	switch {
	case a.Written() && !a.Inout || a.Shape == nil || a.Fields != nil:
		return nil
	case a.structure != nil && a.structure.kind == RowPointers:
		return append(kinds, Skewed)
	case a.structure != nil && a.structure.kind != Indices, a.Fill != Normal && a.Fill != Uniform:
		return kinds
	case a.Element.Float:
		return append(kinds, patterns...)
	case a.Low != nil || a.structure != nil:
		return append(kinds, Skewed)
	}
	return kinds
}

// Kinds are the kinds of data, beside the declared one, that change at least one input.
func (l List) Kinds() []string {
	return collect.Where(Kinds, func(kind string) bool {
		return slices.ContainsFunc(l, func(a Argument) bool {
			return a.Fill != kind && slices.Contains(a.kinds(), kind) ||
				slices.Contains(patterns, kind) && slices.Contains(List(a.Fields).Kinds(), kind)
		})
	})
}

// KindNames reads a list of kinds of data. The declared one is always among them and may be named.
func KindNames(entries []document.Scalar) ([]string, error) {
	names := []string{}
	for _, name := range entries {
		switch {
		case name.Text == Declared:
		case !slices.Contains(Kinds, name.Text):
			return nil, name.At.Errorf("no kind of data %q; there are %s, %s", name.Text, Declared,
				strings.Join(Kinds, ", "))
		default:
			names = append(names, name.Text)
		}
	}
	return names, nil
}
