package search

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"pawl/space"
)

// tpeSampler is a multivariate Tree-structured Parzen Estimator over a pool
// (Bergstra et al. 2011; multivariate as in Falkner et al. 2018, BOHB).
//
// The observations are split into a good and a bad part. Each part becomes a
// density over the points: a mixture of one product kernel per observation and
// one uniform prior. Free points are drawn from the good density; the next point
// is the one of them with the largest ratio of the good density to the bad one.
//
// Failures are bad observations. Pending points count as bad as well, which
// keeps a batch from holding near-copies.
type tpeSampler struct {
	axes []axis
}

var _ Sampler = (*tpeSampler)(nil)

const (
	// tpeStartup is the number of told trials before the densities are asked.
	tpeStartup = 10
	// tpeGood is the part of the observations that counts as good.
	tpeGood = 0.1
	// tpeWidth is the width of an ordered axis's kernel around one observation,
	// as a part of the range.
	tpeWidth = 0.25
	// tpeMostGood bounds that part: of very many observations the best few
	// dozen say where to look, and more only blur it.
	tpeMostGood = 25
	// tpeDraws is the number of points that are drawn from the good density and
	// compared, as in the original algorithm. The best ratio of all points would
	// be the same region again and again; the draws are what makes it leave.
	tpeDraws = 24
	// tpePool bounds the points whose good density is computed.
	tpePool = 50_000
)

func newTPE(s *space.Space) Sampler { return &tpeSampler{axes: axesOf(s)} }

func (t *tpeSampler) Next(view *View, rng *rand.Rand) int {
	good, bad := split(view)
	if len(view.Observations) < tpeStartup || len(good) == 0 || len(t.axes) == 0 {
		return spreadFree(view, t.axes, rng)
	}
	goodDensity := newParzen(view.Pool, t.axes, good)
	badDensity := newParzen(view.Pool, t.axes, append(bad, view.Pending...))

	free := freeSubset(view, tpePool, rng)
	best, bestRatio := -1, math.Inf(-1)
	for _, i := range drawWeighted(goodDensity.all(free), tpeDraws, rng) {
		if ratio := goodDensity.at(free[i]) / badDensity.at(free[i]); ratio > bestRatio {
			best, bestRatio = free[i], ratio
		}
	}
	return best
}

// drawWeighted draws positions without replacement, each with a probability that
// is proportional to its weight: those with the smallest exponential variates of
// that rate (Efraimidis and Spirakis 2006). Weights are positive.
func drawWeighted(weights []float64, count int, rng *rand.Rand) []int {
	var drawn []int
	var keys []float64
	for i, weight := range weights {
		key := rng.ExpFloat64() / weight
		if len(drawn) == count && key >= keys[count-1] {
			continue
		}
		at, _ := slices.BinarySearch(keys, key)
		drawn, keys = slices.Insert(drawn, at, i), slices.Insert(keys, at, key)
		drawn, keys = drawn[:min(count, len(drawn))], keys[:min(count, len(keys))]
	}
	return drawn
}

// split parts the observations into the good ones, a fixed share of all by
// time, and the bad ones, with every failure.
func split(view *View) (good, bad []int) {
	sorted := slices.Clone(view.Observations)
	slices.SortStableFunc(sorted, func(a, b Observation) int {
		switch {
		case a.Failed && b.Failed:
			return 0
		case a.Failed:
			return 1
		case b.Failed:
			return -1
		}
		return cmp.Compare(a.Milliseconds, b.Milliseconds)
	})
	limit := min(int(math.Ceil(tpeGood*float64(len(sorted)))), tpeMostGood)
	for i, o := range sorted {
		if i < limit && !o.Failed {
			good = append(good, o.Index)
		} else {
			bad = append(bad, o.Index)
		}
	}
	return good, bad
}

// parzen is a density over points relative to the uniform one: the mean of one
// product kernel per observation and a prior that is 1 everywhere.
type parzen struct {
	pool     *space.Pool
	axes     []axis
	profiles *profiles
	values   []uint16 // scratch
}

func newParzen(pool *space.Pool, axes []axis, observations []int) *parzen {
	p := &parzen{pool: pool, axes: axes, values: make([]uint16, len(axes))}
	var tables [][][]float64
	for _, a := range axes {
		factors := kernelFactors(a, len(observations), len(axes))
		tables = append(tables, square(a.values(), func(value, centre int) float64 { return factors[centre][value] }))
	}
	p.profiles = newProfiles(tables, valuesOfAll(axes, pool, observations))
	return p
}

// all returns the densities of many points.
func (p *parzen) all(points []int) []float64 {
	densities := make([]float64, len(points))
	for i, index := range points {
		densities[i] = p.at(index)
	}
	return densities
}

// kernelFactors tabulates one axis's kernel, divided by the uniform density, by
// the observation's value and then the point's.
//
// An unordered axis keeps a part for its own value and gives the rest to all
// alike: one imagined observation's worth, so that the kernel sharpens as 1/n. An
// ordered axis is half that and half a Gaussian over its coordinates, because
// neighbours may resemble each other and yet a single value may stand out, as 32
// and 64 do between 16 and 80. The Gaussian's width shrinks with the number of
// observations n as Scott's rule has it, n^(-1/(axes+4)), and never below half a
// gap: between values there is nothing.
func kernelFactors(a axis, n, axes int) [][]float64 {
	rest := 1 / float64(n+1)
	width := max(tpeWidth*math.Pow(float64(max(n, 1)), -1/float64(axes+4)), 0.5/float64(a.values()-1))
	factors := make([][]float64, a.values())
	for centre := range factors {
		own := make([]float64, a.values())
		near := make([]float64, a.values())
		for value := range own {
			own[value] = rest
			z := (a.coordinates[value] - a.coordinates[centre]) / width
			near[value] = math.Exp(-z * z / 2)
		}
		own[centre]++
		factors[centre] = relativeToUniform(own)
		if a.ordered {
			for value, factor := range relativeToUniform(near) {
				factors[centre][value] = (factors[centre][value] + factor) / 2
			}
		}
	}
	return factors
}

// relativeToUniform scales weights to a mean of 1.
func relativeToUniform(weights []float64) []float64 {
	sum := 0.0
	for _, weight := range weights {
		sum += weight
	}
	for i := range weights {
		weights[i] *= float64(len(weights)) / sum
	}
	return weights
}

// at returns the density of a point, relative to the uniform one.
func (p *parzen) at(index int) float64 {
	row := p.pool.Row(index)
	for j, a := range p.axes {
		p.values[j] = row[a.position]
	}
	products := p.profiles.at(p.values)
	sum := 1.0 // the prior
	for _, product := range products {
		sum += product
	}
	return sum / float64(len(products)+1)
}
