package search

import (
	"math"

	"pawl/space"
)

// axis is one parameter as the models see it. Parameters with a single value
// have no axis: they cannot tell points apart.
type axis struct {
	// position is the parameter's place in a row.
	position int
	// ordered says that coordinates mean something.
	ordered bool
	// coordinates are the places of the values on [0, 1]. An unordered
	// parameter has them too, as mere labels.
	coordinates []float64
}

func (a axis) values() int { return len(a.coordinates) }

// axesOf returns the parameters of a space that vary.
func axesOf(s *space.Space) []axis {
	var axes []axis
	for i, p := range s.Params() {
		if len(p.Values) > 1 {
			axes = append(axes, axis{position: i, ordered: p.Ordered, coordinates: coordinates(p)})
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
			linear[i] = float64(v.Integer())
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
	logs := make([]float64, len(ascending))
	for i, x := range ascending {
		logs[i] = math.Log2(x + shift)
	}
	return logs
}

func rescaled(ascending []float64) []float64 {
	low, high := ascending[0], ascending[len(ascending)-1]
	scaled := make([]float64, len(ascending))
	for i, x := range ascending {
		scaled[i] = (x - low) / (high - low)
	}
	return scaled
}

// unevenness is the sum of the squared gaps between neighbours on [0, 1]: the
// smaller, the more even.
func unevenness(ascending []float64) float64 {
	sum := 0.0
	for i := 1; i < len(ascending); i++ {
		gap := ascending[i] - ascending[i-1]
		sum += gap * gap
	}
	return sum
}

// profiles multiplies tables over the axes: what a candidate has to do with each
// of a list of points. Candidates that come in the order of the pool share their
// first values with the one before, and with them partial products, which makes
// most axes free.
type profiles struct {
	// columns[j][v][i] is the entry of axis j for value v and point i.
	columns  [][][]float64
	products [][]float64 // up to axis j
	last     []uint16
	ready    int // the number of axes whose products are those of last
}

// newProfiles takes tables[j][u][v] for a candidate's value u and a point's v.
func newProfiles(tables [][][]float64, points [][]uint16) *profiles {
	p := &profiles{last: make([]uint16, len(tables))}
	for j, table := range tables {
		columns := make([][]float64, len(table))
		for u := range columns {
			columns[u] = make([]float64, len(points))
			for i, point := range points {
				columns[u][i] = table[u][point[j]]
			}
		}
		p.columns = append(p.columns, columns)
		p.products = append(p.products, make([]float64, len(points)))
	}
	return p
}

// at returns one product per point. They are overwritten by the next call.
func (p *profiles) at(values []uint16) []float64 {
	shared := 0
	for shared < p.ready && p.last[shared] == values[shared] {
		shared++
	}
	for j := shared; j < len(values); j++ {
		column := p.columns[j][values[j]]
		products := p.products[j][:len(column)]
		if j == 0 {
			copy(products, column)
			continue
		}
		before := p.products[j-1][:len(column)]
		for i, factor := range column {
			products[i] = before[i] * factor
		}
	}
	copy(p.last, values)
	p.ready = len(values)
	return p.products[len(values)-1]
}
