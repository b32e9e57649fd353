package gaussian

import (
	"math"

	"pawl/internal/collect"
	"pawl/space"
)

// feature is one way in which two values of a parameter may differ. A parameter
// can have several: 96 is near 112 as a number, and far as a multiple of 32.
type feature struct {
	axis int
	// distances are those that occur between values, at most 1, each once: many pairs are equally far apart, and
	// a correlation takes an exponential. between[u][v] is the place of the one between two values.
	distances []float64
	between   [][]int
	// prior is the mean of the log length before anything was observed.
	prior float64
}

// Shape is what the covariance looks at, before its lengths are known.
type Shape struct {
	settings Settings
	Axes     []Axis
	features []feature
}

// NewShape returns the features of all parameters that vary.
//
//   - An ordered parameter has its coordinate.
//   - If the powers of two in its values do not merely grow with the values, it
//     also has its alignment. Hardware is made of powers of two (warps, cache
//     lines, banks), so 64 and 128 may have more in common than 64 and 80.
//   - An unordered parameter, or one with two values, has its identity only. The
//     others have it as well: then a single value may stand out, which takes more
//     observations to learn and finds what the rest misses.
func NewShape(s *space.Space, settings Settings) Shape {
	shape := Shape{settings: settings, Axes: Axes(s)}
	add := func(axis int, distance func(u, v int) float64, prior float64) {
		f := feature{axis: axis, prior: prior}
		places := map[float64]int{}
		f.between = Square(shape.Axes[axis].Values(), func(u, v int) int {
			far := distance(u, v)
			if _, known := places[far]; !known {
				places[far] = len(f.distances)
				f.distances = append(f.distances, far)
			}
			return places[far]
		})
		shape.features = append(shape.features, f)
	}
	for j, a := range shape.Axes {
		if !a.Ordered || a.Values() == 2 {
			add(j, identity, settings.LengthPrior)
			continue
		}
		add(j, along(a.Coordinates), settings.LengthPrior)
		if alignment := Alignments(s.Params()[a.Position]); alignment != nil {
			add(j, along(alignment), settings.AlignmentPrior)
		}
		add(j, identity, settings.SinglePrior)
	}
	return shape
}

func along(coordinates []float64) func(u, v int) float64 {
	return func(u, v int) float64 { return math.Abs(coordinates[u] - coordinates[v]) }
}

func identity(u, v int) float64 {
	if u == v {
		return 0
	}
	return 1
}

// logMatern returns the logarithm of the Matérn-5/2 correlation at a distance,
// and its derivative by the logarithm of the length.
func logMatern(distance, length float64) (value, slope float64) {
	r := math.Sqrt(5) * distance / length
	polynomial := 1 + r + r*r/3
	return math.Log(polynomial) - r, r * r * (1 + r) / 3 / polynomial
}

// Parameters are what a process is fitted by: the log length of
// each feature, the log ratio of noise to signal variance, and the log ratio of main
// effects to interactions.
type Parameters []float64

func (s Shape) prior() Parameters {
	priors := collect.Each(s.features, func(f feature) float64 { return f.prior })
	return append(priors, s.settings.NoisePrior, 0)
}

func (s Shape) noise(p Parameters) float64 { return math.Exp(p[len(s.features)]) }

// share returns the part of the correlation that comes from the parameters one by one.
func (s Shape) share(p Parameters) float64 {
	return 1 / (1 + math.Exp(-p[len(s.features)+1]))
}

// correlation is the covariance function (the kernel) of the Gaussian process:
//
//	share · mean over axes of k_j  +  (1 − share) · product over axes of k_j
//
// where k_j is a product of Matérn-5/2 correlations, one per feature of axis j,
// each with a length of its own. The mean holds what the parameters do one by
// one and generalises from few observations; the product holds what they do
// together (additive Gaussian processes, Duvenaud et al. 2011, first and last
// order). Values are few, so each k_j is a table.
type correlation struct {
	tables [][][]float64 // axis, value, value
	share  float64
	// slopes are the derivatives of each feature's logarithm by that of its length, distance by distance.
	slopes [][]float64
}

func newCorrelation(s Shape, p Parameters) *correlation {
	c := &correlation{share: s.share(p)}
	for _, a := range s.Axes {
		c.tables = append(c.tables, Square(a.Values(), func(int, int) float64 { return 1 }))
	}
	for i, f := range s.features {
		length := math.Exp(p[i])
		values, slopes := make([]float64, len(f.distances)), make([]float64, len(f.distances))
		for d, distance := range f.distances {
			values[d], slopes[d] = logMatern(distance, length)
			values[d] = math.Exp(values[d])
		}
		for u, row := range f.between {
			for v, d := range row {
				c.tables[f.axis][u][v] *= values[d]
			}
		}
		c.slopes = append(c.slopes, slopes)
	}
	return c
}

func (c *correlation) row(point []uint16, others [][]uint16, into []float64) {
	tables := make([][]float64, len(c.tables))
	for j, value := range point {
		tables[j] = c.tables[j][value]
	}
	one, all := c.share/float64(len(tables)), 1-c.share
	for i, other := range others {
		sum, product := 0.0, 1.0
		for j, value := range other {
			k := tables[j][value]
			sum += k
			product *= k
		}
		into[i] = one*sum + all*product
	}
}
