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
	// tpeGood times the square root of the number of observations is how many
	// count as good: a fixed share lets a crowd of middling points outweigh
	// the best (Bergstra et al. 2011 use a square root as well).
	tpeGood = 0.5
	// tpeUniform is the part of an ordered axis's kernel that ignores the
	// distance, so that a good point may be left on one axis alone by any step.
	tpeUniform = 0.2
	// tpeMostGood bounds that part: of very many observations the best few
	// dozen say where to look, and more only blur it.
	tpeMostGood = 50
	// tpeCandidates bounds the points whose ratio is computed: those with the
	// largest good density, which is where the original algorithm draws its
	// candidates from.
	tpeCandidates = 2000
	// tpeRatios bounds the products of candidates and bad observations: with
	// very many observations fewer candidates do, because the good density is
	// the sharper for them.
	tpeRatios = 500_000
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

	candidates := freeSubset(view, tpePool, rng)
	densities := goodDensity.all(candidates)
	floor := 0.0
	if most := min(tpeCandidates, tpeRatios/(len(bad)+1)); len(candidates) > most {
		sorted := slices.Clone(densities)
		slices.Sort(sorted)
		floor = sorted[len(sorted)-max(most, 1)]
	}
	best, bestRatio := -1, math.Inf(-1)
	for i, index := range candidates {
		if densities[i] < floor {
			continue
		}
		if ratio := densities[i] / badDensity.at(index); ratio > bestRatio {
			best, bestRatio = index, ratio
		}
	}
	return best
}

// split parts the observations into the good ones, the fastest few, and the bad
// ones, with every failure.
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
	limit := min(int(math.Ceil(tpeGood*math.Sqrt(float64(len(sorted))))), tpeMostGood)
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
// An ordered axis has a Gaussian over its coordinates, normalised over the
// values that exist, and a uniform part; an unordered one keeps a part for its
// own value and gives the rest to all others alike (Aitchison and Aitken 1976).
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
				density = shrink * 0.5
			}
			factors[centre][value] = density
			sum += density
		}
		for value := range factors[centre] {
			factors[centre][value] *= values / sum
			if a.ordered {
				factors[centre][value] = (1-tpeUniform)*factors[centre][value] + tpeUniform
			}
		}
	}
	return factors
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
