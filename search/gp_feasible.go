package search

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
)

// feasibility is the probability that a point works, learned from failures: a
// Gaussian process over labels, 1 for works and -1 for fails, squashed to a
// probability (least-squares classification, Rasmussen and Williams 2006,
// section 6.5). It has lengths of its own, because what makes a kernel fail is
// rarely what makes it slow.
type feasibility struct {
	process *gaussianProcess
	columns *columns
	scratch []float64
}

const (
	// feasibilityMost bounds the observations of each label.
	feasibilityMost = 100
	// feasibilityFitMost is as gpFitMost. Labels have two values and less to
	// teach.
	feasibilityFitMost = 40
	// feasibilityBlur is the variance that the squashing adds: a label is
	// never quite certain.
	feasibilityBlur = 0.1
)

// feasible returns nil while nothing has failed or nothing has worked.
func (g *gpSampler) feasible(view *View) *feasibility {
	share := workingShare(view)
	if share == 0 || share == 1 {
		return nil
	}
	labels := func(told []Observation) training {
		data := training{}
		for _, o := range latestOfEach(told, feasibilityMost) {
			label := 1.0
			if o.Failed {
				label = -1
			}
			data.add(valuesOf(g.shape.axes, view.Pool.Row(o.Index)), label)
		}
		return data
	}
	data := labels(view.Observations)
	f := &feasibility{process: g.labels.over(g.shape, view.Observations, data, labels, slices.Clone[[]float64])}
	f.process.condition(data.values)
	f.columns = newColumns(f.process)
	f.scratch = make([]float64, len(data.values))
	return f
}

// workingShare returns the share of the observations that work, 1 for none.
func workingShare(view *View) float64 {
	if len(view.Observations) == 0 {
		return 1
	}
	working := 0
	for _, o := range view.Observations {
		if !o.Failed {
			working++
		}
	}
	return float64(working) / float64(len(view.Observations))
}

// latestOfEach returns the last observations that work and the last that fail,
// in the order told.
func latestOfEach(observations []Observation, most int) []Observation {
	var kept []Observation
	count := map[bool]int{}
	for _, o := range slices.Backward(observations) {
		if count[o.Failed]++; count[o.Failed] <= most {
			kept = append(kept, o)
		}
	}
	slices.Reverse(kept)
	return kept
}

// logProbability returns the logarithm of the probability that a point works.
// The variance is bounded by what the nearest observation leaves: the exact one
// would cost a triangular solve and change little.
func (f *feasibility) logProbability(values []uint16) float64 {
	if f == nil {
		return 0
	}
	nearest := f.columns.at(values, f.scratch)
	n := len(f.scratch)
	mean := f.process.mean + blas64.Dot(blas64.Vector{N: n, Inc: 1, Data: f.process.weights}, blas64.Vector{N: n, Inc: 1, Data: f.scratch})
	deviation := f.process.deviation(nearest * nearest / (1 + f.process.noise))
	z := mean / math.Sqrt(deviation*deviation+feasibilityBlur)
	return math.Log(math.Erfc(-max(z, -8)/math.Sqrt2) / 2)
}

// startFree draws a point for a model that has nothing to work with yet: away
// from what was tried, or, where working points are rare and some are known, one
// that is likely to work.
func startFree(view *View, axes []axis, rng *rand.Rand, logProbability func(values []uint16) float64) int {
	if share := workingShare(view); share == 0 || share > 0.5 {
		return spreadFree(view, axes, rng)
	}
	return climb(view, axes, rng, spreadDraws, func(points []int, _ float64) []float64 {
		scores := make([]float64, len(points))
		for i, values := range valuesOfAll(axes, view.Pool, points) {
			scores[i] = logProbability(values)
		}
		return scores
	})
}
