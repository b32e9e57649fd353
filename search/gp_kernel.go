package search

import (
	"math"
	"math/bits"

	"pawl/space"
)

// feature is one way in which two values of a parameter may differ. A parameter
// can have several: 96 is near 112 as a number, and far as a multiple of 32.
type feature struct {
	axis int
	// distances are between values, at most 1.
	distances [][]float64
	// prior is the mean of the log length before anything was observed.
	prior float64
}

// The priors of the log length scales. A length of about 0.7 says that half a
// parameter's range changes much; the two values of a switch are as far apart as
// the ends of a range. Alignment counts for less until the observations speak for
// it, and that a single value stands out for less still.
const (
	lengthPrior      = -0.35
	lengthSpread     = 0.7
	alignmentPrior   = lengthPrior + 0.7
	singlePrior      = lengthPrior + 2.1
	noisePrior       = -4.6 // of the log ratio of noise to signal variance
	noiseSpread      = 1.5
	mainEffectSpread = 1.0 // of the log ratio of main effects to interactions
)

// kernelShape is what a kernel looks at, before its lengths are known.
type kernelShape struct {
	axes     []axis
	features []feature
	// mainEffects says that the kernel has a part for the parameters one by one.
	mainEffects bool
}

// newKernelShape returns the features of all parameters that vary.
//
//   - An ordered parameter has its coordinate.
//   - If the powers of two in its values do not merely grow with the values, it
//     also has its alignment. Hardware is made of powers of two (warps, cache
//     lines, banks), so 64 and 128 may have more in common than 64 and 80.
//   - An unordered parameter, or one with two values, has its identity only. With
//     identities, the others have it as well: then a single value may stand out,
//     which takes more observations to learn and finds what the rest misses.
func newKernelShape(s *space.Space, mainEffects, identities bool) kernelShape {
	axes := axesOf(s)
	var features []feature
	for j, a := range axes {
		if !a.ordered || a.values() == 2 {
			features = append(features, feature{j, identityDistances(a.values()), lengthPrior})
			continue
		}
		features = append(features, feature{j, lineDistances(a.coordinates), lengthPrior})
		if alignment := alignments(s.Params()[a.position]); alignment != nil {
			features = append(features, feature{j, lineDistances(alignment), alignmentPrior})
		}
		if identities {
			features = append(features, feature{j, identityDistances(a.values()), singlePrior})
		}
	}
	return kernelShape{axes: axes, features: features, mainEffects: mainEffects}
}

// alignments places integers on [0, 1] by how often two divides them, or
// returns nil where that says nothing new: all alike, or growing with the value
// as in a list of powers of two. Zero is divided by two as often as one likes.
func alignments(p space.Param) []float64 {
	places := make([]float64, len(p.Values))
	low, high, grows := math.Inf(1), math.Inf(-1), true
	for i, v := range p.Values {
		if v.Kind() != space.Integer {
			return nil
		}
		if v.Integer() != 0 {
			places[i] = float64(bits.TrailingZeros64(uint64(v.Integer())))
			low, high = min(low, places[i]), max(high, places[i])
		}
	}
	for i, v := range p.Values {
		if v.Integer() == 0 {
			places[i] = high + 1
		}
	}
	for i := 1; i < len(places); i++ {
		grows = grows && places[i] >= places[i-1]
	}
	if grows {
		return nil
	}
	top := low
	for _, place := range places {
		top = max(top, place)
	}
	if top == low {
		return nil
	}
	for i := range places {
		places[i] = (places[i] - low) / (top - low)
	}
	return places
}

func lineDistances(coordinates []float64) [][]float64 {
	return square(len(coordinates), func(u, v int) float64 { return math.Abs(coordinates[u] - coordinates[v]) })
}

func identityDistances(values int) [][]float64 {
	return square(values, func(u, v int) float64 {
		if u == v {
			return 0
		}
		return 1
	})
}

func square(n int, cell func(u, v int) float64) [][]float64 {
	table := make([][]float64, n)
	for u := range table {
		table[u] = make([]float64, n)
		for v := range table[u] {
			table[u][v] = cell(u, v)
		}
	}
	return table
}

// logMatern returns the logarithm of the Matérn-5/2 correlation at a distance,
// and its derivative by the logarithm of the length.
func logMatern(distance, length float64) (value, slope float64) {
	r := math.Sqrt(5) * distance / length
	polynomial := 1 + r + r*r/3
	return math.Log(polynomial) - r, r * r * (1 + r) / 3 / polynomial
}

// kernelParameters are what a Gaussian process is fitted by: the log length of
// each feature, the log ratio of noise to signal variance, and, where the shape
// has main effects, the log ratio of those to the interactions.
type kernelParameters []float64

// prior returns the parameters before anything was observed.
func (s kernelShape) prior() kernelParameters {
	p := make(kernelParameters, 0, len(s.features)+2)
	for _, f := range s.features {
		p = append(p, f.prior)
	}
	p = append(p, noisePrior)
	if s.mainEffects {
		p = append(p, 0)
	}
	return p
}

// noise returns the ratio of noise to signal variance.
func (s kernelShape) noise(p kernelParameters) float64 { return math.Exp(p[len(s.features)]) }

// share returns the part of the correlation that comes from the parameters one
// by one.
func (s kernelShape) share(p kernelParameters) float64 {
	if !s.mainEffects {
		return 0
	}
	return 1 / (1 + math.Exp(-p[len(s.features)+1]))
}

// correlation is the kernel of the Gaussian process:
//
//	share · mean over axes of k_j  +  (1 − share) · product over axes of k_j
//
// where k_j is a product of Matérn-5/2 correlations, one per feature of axis j,
// each with a length of its own. The mean holds what the parameters do one by
// one and generalises from few observations; the product holds what they do
// together (additive Gaussian processes, Duvenaud et al. 2011, first and last
// order). Values are few, so each k_j is a table.
type correlation struct {
	axes   []axis
	tables [][][]float64 // axis, value, value
	share  float64
}

func newCorrelation(s kernelShape, p kernelParameters) *correlation {
	c := &correlation{axes: s.axes, share: s.share(p)}
	for _, a := range s.axes {
		c.tables = append(c.tables, square(a.values(), func(int, int) float64 { return 1 }))
	}
	for i, f := range s.features {
		length := math.Exp(p[i])
		for u, row := range f.distances {
			for v, distance := range row {
				value, _ := logMatern(distance, length)
				c.tables[f.axis][u][v] *= math.Exp(value)
			}
		}
	}
	return c
}

func (c *correlation) at(a, b []uint16) float64 {
	sum, product := 0.0, 1.0
	for j, table := range c.tables {
		k := table[a[j]][b[j]]
		sum += k
		product *= k
	}
	return c.share*sum/float64(len(c.tables)) + (1-c.share)*product
}

// valuesOfAll is valuesOf for many points, in one piece of memory.
func valuesOfAll(axes []axis, pool *space.Pool, indices []int) [][]uint16 {
	cells := make([]uint16, len(axes)*len(indices))
	all := make([][]uint16, len(indices))
	for i, index := range indices {
		all[i] = cells[i*len(axes) : (i+1)*len(axes) : (i+1)*len(axes)]
		row := pool.Row(index)
		for j, a := range axes {
			all[i][j] = row[a.position]
		}
	}
	return all
}

// valuesOf returns the positions of a point's values, axis by axis.
func valuesOf(axes []axis, row space.Row) []uint16 {
	values := make([]uint16, len(axes))
	for j, a := range axes {
		values[j] = row[a.position]
	}
	return values
}
