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
// one uniform prior. The next point is the free one with the largest ratio of
// the good density to the bad one.
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
	tpeGood = 0.15
	// tpeCandidates bounds the points whose ratio is computed: those with the
	// largest good density, which is where the original algorithm draws its
	// candidates from.
	tpeCandidates = 2000
	// tpePool bounds the points whose good density is computed.
	tpePool = 50_000
)

func newTPE(s *space.Space) Sampler { return &tpeSampler{axes: axesOf(s)} }

func (t *tpeSampler) Next(view *View, rng *rand.Rand) int {
	good, bad := split(view)
	if len(view.Observations) < tpeStartup || len(good) == 0 {
		return spreadFree(view, t.axes, rng)
	}
	goodDensity := newParzen(view.Pool, t.axes, good)
	badDensity := newParzen(view.Pool, t.axes, append(bad, view.Pending...))

	candidates := freeSubset(view, tpePool, rng)
	if len(candidates) > tpeCandidates {
		candidates = topScored(candidates, tpeCandidates, goodDensity.at)
	}
	best, bestRatio := -1, math.Inf(-1)
	for _, index := range candidates {
		if ratio := goodDensity.at(index) / badDensity.at(index); ratio > bestRatio {
			best, bestRatio = index, ratio
		}
	}
	return best
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
	limit := int(math.Ceil(tpeGood * float64(len(sorted))))
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
	pool *space.Pool
	axes []axis
	// factors[j][c][v] is what axis j multiplies the density of value v by when
	// the observation has value c.
	factors [][][]float64
	rows    []space.Row
}

func newParzen(pool *space.Pool, axes []axis, observations []int) *parzen {
	p := &parzen{pool: pool, axes: axes}
	for _, index := range observations {
		p.rows = append(p.rows, pool.Row(index))
	}
	for _, a := range axes {
		p.factors = append(p.factors, kernelFactors(a, len(observations), len(axes)))
	}
	return p
}

// kernelFactors tabulates one axis's kernel, divided by the uniform density.
// An ordered axis has a Gaussian over its coordinates, normalised over the
// values that exist; an unordered one keeps a part for its own value and gives
// the rest to all alike (Aitchison and Aitken 1976).
//
// The width shrinks with the number of observations n as Scott's rule has it,
// n^(-1/(axes+4)), and never below half a gap: between values there is nothing.
func kernelFactors(a axis, n, axes int) [][]float64 {
	shrink := math.Pow(float64(max(n, 1)), -1/float64(axes+4))
	values := float64(a.values())
	factors := make([][]float64, a.values())
	for centre := range factors {
		factors[centre] = make([]float64, a.values())
		sum := 0.0
		for value := range factors[centre] {
			density := 1.0
			if a.ordered {
				width := max(0.5*shrink, 0.5/(values-1))
				z := (a.coordinates[value] - a.coordinates[centre]) / width
				density = math.Exp(-z * z / 2)
			} else if value != centre {
				// At shrink 1 every value weighs the same.
				density = shrink * 0.5
			}
			factors[centre][value] = density
			sum += density
		}
		for value := range factors[centre] {
			factors[centre][value] *= values / sum
		}
	}
	return factors
}

// at returns the density of a point, relative to the uniform one.
func (p *parzen) at(index int) float64 {
	row := p.pool.Row(index)
	sum := 1.0 // the prior
	for _, observed := range p.rows {
		product := 1.0
		for j, a := range p.axes {
			product *= p.factors[j][observed[a.position]][row[a.position]]
		}
		sum += product
	}
	return sum / float64(len(p.rows)+1)
}
