package gaussian

import (
	"math"
	"math/bits"
	"slices"

	"pawl/internal/collect"
	"pawl/space"
)

// Axis is one parameter as the models see it. Parameters with a single value
// have no axis: they cannot tell points apart.
type Axis struct {
	// Position is the parameter's place in a row.
	Position int
	// Ordered says that coordinates mean something.
	Ordered bool
	// Coordinates are the places of the values on [0, 1]. An unordered parameter has them too, as mere labels.
	Coordinates []float64
}

// Values returns the number of values.
func (a Axis) Values() int { return len(a.Coordinates) }

// Axes returns the parameters of a space that vary.
func Axes(s *space.Space) []Axis {
	var axes []Axis
	for i, p := range s.Params() {
		if len(p.Values) > 1 {
			axes = append(axes, Axis{Position: i, Ordered: p.Ordered, Coordinates: coordinates(p)})
		}
	}
	return axes
}

// coordinates places a parameter's values on [0, 1], on the scale on which they
// are spread most evenly. The author of a list such as 16, 32, 64, 128 thinks in
// factors and the author of 16, 32, 48, 64 in differences, so powers of two come
// out on a log scale and multiples on a linear one.
func coordinates(p space.Param) []float64 {
	linear := make([]float64, len(p.Values))
	for i, v := range p.Values {
		if p.Ordered {
			linear[i] = v.Number()
		} else {
			linear[i] = float64(i)
		}
	}
	logarithmic := logarithms(linear)
	linear = rescaled(linear)
	if !p.Ordered || logarithmic == nil || len(linear) < 3 {
		return linear
	}
	if logarithmic = rescaled(logarithmic); unevenness(logarithmic) < unevenness(linear) {
		return logarithmic
	}
	return linear
}

// logarithms returns nil where a logarithm means nothing. A list that begins
// with 0, as unroll factors do, is moved up by one.
func logarithms(ascending []float64) []float64 {
	shift := 0.0
	switch {
	case ascending[0] < 0:
		return nil
	case ascending[0] == 0:
		shift = 1
	}
	return collect.Each(ascending, func(x float64) float64 { return math.Log2(x + shift) })
}

func rescaled(places []float64) []float64 {
	low, high := slices.Min(places), slices.Max(places)
	return collect.Each(places, func(x float64) float64 { return (x - low) / (high - low) })
}

// unevenness is the sum of the squared gaps between neighbors on [0, 1]: the smaller, the more even.
func unevenness(ascending []float64) float64 {
	sum := 0.0
	for i := 1; i < len(ascending); i++ {
		gap := ascending[i] - ascending[i-1]
		sum += gap * gap
	}
	return sum
}

// Alignments places integers on [0, 1] by how often two divides them, or
// returns nil where that says nothing new: all alike, or growing with the value
// as in a list of powers of two. Zero is divided by two as often as one likes.
func Alignments(p space.Param) []float64 {
	places := make([]float64, len(p.Values))
	for i, v := range p.Values {
		if v.Kind() != space.Integer {
			return nil
		}
		if v.Integer() != 0 {
			places[i] = float64(bits.TrailingZeros64(uint64(v.Integer())))
		}
	}
	zero := slices.Max(places) + 1
	for i, v := range p.Values {
		if v.Integer() == 0 {
			places[i] = zero
		}
	}
	if slices.IsSorted(places) {
		return nil
	}
	return rescaled(places)
}

// ValuesOfAll is ValuesOf for many points, in one piece of memory.
func ValuesOfAll(axes []Axis, pool *space.Pool, indices []int) [][]uint16 {
	cells := make([]uint16, len(axes)*len(indices))
	all := make([][]uint16, len(indices))
	for i, index := range indices {
		all[i] = cells[i*len(axes) : (i+1)*len(axes) : (i+1)*len(axes)]
		row := pool.Row(index)
		for j, a := range axes {
			all[i][j] = row[a.Position]
		}
	}
	return all
}

// ValuesOf returns the positions of a point's values, axis by axis.
func ValuesOf(axes []Axis, row space.Row) []uint16 {
	return collect.Each(axes, func(a Axis) uint16 { return row[a.Position] })
}

// Products multiplies tables over the axes, and adds them up: what a candidate has to do with each
// of a list of points. Candidates that come in the order of the pool share their
// first values with the one before, and with them partial products, which makes
// most axes free.
type Products struct {
	// columns[j][v][i] is the entry of axis j for value v and point i.
	columns  [][][]float64
	products [][]float64 // up to axis j
	sums     [][]float64 // likewise
	last     []uint16
	ready    int // the number of axes whose partial results are those of last
}

// NewProducts takes tables[j][u][v] for a candidate's value u and a point's v.
func NewProducts(tables [][][]float64, points [][]uint16) *Products {
	p := &Products{last: make([]uint16, len(tables))}
	for j, table := range tables {
		p.columns = append(p.columns, collect.Each(table, func(of []float64) []float64 {
			return collect.Each(points, func(point []uint16) float64 { return of[point[j]] })
		}))
		p.products = append(p.products, make([]float64, len(points)))
		p.sums = append(p.sums, make([]float64, len(points)))
	}
	return p
}

// At returns one product and one sum per point. They are overwritten by the next call.
func (p *Products) At(values []uint16) (products, sums []float64) {
	shared := 0
	for shared < p.ready && p.last[shared] == values[shared] {
		shared++
	}
	for j := shared; j < len(values); j++ {
		column := p.columns[j][values[j]]
		if j == 0 {
			copy(p.products[0], column)
			copy(p.sums[0], column)
			continue
		}
		before, products := p.products[j-1][:len(column)], p.products[j][:len(column)]
		for i, factor := range column {
			products[i] = before[i] * factor
		}
		below, sums := p.sums[j-1][:len(column)], p.sums[j][:len(column)]
		for i, term := range column {
			sums[i] = below[i] + term
		}
	}
	copy(p.last, values)
	p.ready = len(values)
	return p.products[len(values)-1], p.sums[len(values)-1]
}

// Square fills a table of n by n cells.
func Square[Cell any](n int, cell func(u, v int) Cell) [][]Cell {
	table := make([][]Cell, n)
	for u := range table {
		table[u] = make([]Cell, n)
		for v := range table[u] {
			table[u][v] = cell(u, v)
		}
	}
	return table
}
