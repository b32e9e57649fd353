package sampler

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"pawl/search/sampler/gaussian"
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
type tpeSampler struct{ common }

var _ Sampler = (*tpeSampler)(nil)

func (t *tpeSampler) Next(view *View, rng *rand.Rand) int {
	good, bad := t.split(view)
	if len(view.Observations) < t.settings.TPE.Startup || len(good) == 0 || len(t.axes) == 0 {
		return t.spread(view, rng)
	}
	goodDensity := t.parzen(view.Pool, good)
	badDensity := t.parzen(view.Pool, append(bad, view.Pending...))

	free := freeSubset(view, t.settings.TPE.Pool, rng)
	densities := make([]float64, len(free))
	for i, index := range free {
		densities[i] = goodDensity.at(index)
	}
	best, bestRatio := -1, math.Inf(-1)
	for _, i := range drawWeighted(densities, t.settings.TPE.Draws, rng) {
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

// split parts the observations into the good ones, a fixed share of all by time, and the bad ones, with every failure.
func (t *tpeSampler) split(view *View) (good, bad []int) {
	sorted := slices.Clone(view.Observations)
	time := func(o Observation) float64 {
		if o.Failed {
			return math.Inf(1)
		}
		return o.Milliseconds
	}
	slices.SortStableFunc(sorted, func(a, b Observation) int { return cmp.Compare(time(a), time(b)) })
	limit := min(int(math.Ceil(t.settings.TPE.Good*float64(len(sorted)))), t.settings.TPE.MostGood)
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
	axes     []gaussian.Axis
	products *gaussian.Products
	values   []uint16 // scratch
}

func (t *tpeSampler) parzen(pool *space.Pool, observations []int) *parzen {
	p := &parzen{pool: pool, axes: t.axes, values: make([]uint16, len(t.axes))}
	var tables [][][]float64
	for _, a := range t.axes {
		factors := t.settings.TPE.kernelFactors(a, len(observations), len(t.axes))
		tables = append(tables,
			gaussian.Square(a.Values(), func(value, centre int) float64 { return factors[centre][value] }))
	}
	p.products = gaussian.NewProducts(tables, gaussian.ValuesOfAll(t.axes, pool, observations), false)
	return p
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
func (t TPE) kernelFactors(a gaussian.Axis, n, axes int) [][]float64 {
	rest := 1 / float64(n+1)
	width := max(t.Width*math.Pow(float64(max(n, 1)), -1/float64(axes+4)), 0.5/float64(a.Values()-1))
	factors := make([][]float64, a.Values())
	for centre := range factors {
		own := make([]float64, a.Values())
		near := make([]float64, a.Values())
		for value := range own {
			own[value] = rest
			z := (a.Coordinates[value] - a.Coordinates[centre]) / width
			near[value] = math.Exp(-z * z / 2)
		}
		own[centre]++
		factors[centre] = relativeToUniform(own)
		if a.Ordered {
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

func (p *parzen) at(index int) float64 {
	row := p.pool.Row(index)
	for j, a := range p.axes {
		p.values[j] = row[a.Position]
	}
	products, _ := p.products.At(p.values)
	sum := 1.0 // the prior
	for _, product := range products {
		sum += product
	}
	return sum / float64(len(products)+1)
}
