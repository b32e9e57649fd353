package search

import (
	"math"
	"math/rand/v2"
	"slices"

	"pawl/space"
)

// gpSampler asks a Gaussian process for the point with the largest expected
// improvement, times the probability that it works.
//
// It models logarithms of times, with the slow half compressed: how slow a slow
// point is says little about where the fast ones are. What a failure says is
// learned as a probability; in the model of times it stands at the median, which
// says no more than that there is nothing to find there. Pending points are
// believed to come out as predicted, so that a batch spreads.
type gpSampler struct {
	shape kernelShape
	// times and labels save time only.
	times, labels fittedProcess
	earlier       trend
}

var _ Sampler = (*gpSampler)(nil)

const (
	// gpStartup is few: from the first handful on the model chooses better than
	// chance does.
	gpStartup = 5
	// gpWorking is the smallest number of times to fit a model to.
	gpWorking = 3
	// gpMost bounds the observations of the model: time grows with the third
	// power. Beyond it failures and the slowest are left out.
	gpMost = 300
	// gpFitMost bounds the observations that lengths are fitted to.
	gpFitMost = 64
	// gpInflation is what the model's deviations are multiplied by. Lengths
	// that were fitted to a few dozen observations are taken for the truth,
	// which makes the model too sure of itself: see docs/search.md for what
	// the search gains by doubting it.
	gpInflation = 3
	// gpCandidates is the number of random points whose improvement is
	// computed; from the best of them the search climbs.
	gpCandidates = 600
)

func newGP(s *space.Space) Sampler { return newGPSampler(newKernelShape(s, true, true)) }

func newGPSampler(shape kernelShape) *gpSampler {
	return &gpSampler{
		shape: shape,
		times: fittedProcess{most: gpFitMost}, labels: fittedProcess{most: feasibilityFitMost},
	}
}

func (g *gpSampler) Next(view *View, rng *rand.Rand) int {
	axes := g.shape.axes
	if len(axes) == 0 {
		return randomFree(view, rng)
	}
	training := func(told []Observation) training { return newTraining(view.Pool, axes, told, gpMost) }
	data := training(view.Observations)
	feasible := g.feasible(view)
	if len(view.Observations)+len(view.Pending) < gpStartup || data.working() < gpWorking {
		return startFree(view, axes, rng, feasible.logProbability)
	}
	model := g.times.over(g.shape, view.Observations, data, training, scaledTimes)
	for _, index := range view.Pending {
		model.extend(valuesOf(axes, view.Pool.Row(index)))
	}
	defer model.shrink(len(data.points))
	scaled := scaledTimes(data.values)
	earlier := g.earlier.over(g.shape, view)
	trust := earlier.condition(model, data.points, scaled)
	model.inflate(gpInflation)
	best := slices.Min(scaled)
	costs := newCostModel(view, axes)
	return climb(view, axes, rng, gpCandidates, func(points []int, floor float64) []float64 {
		candidates := valuesOfAll(axes, view.Pool, points)
		handicap := make([]float64, len(points))
		for i, values := range candidates {
			handicap[i] = feasible.logProbability(values) - view.Thrift*costs.logCost(values)
		}
		expected := combined(earlier.atAll(candidates), trust, len(candidates))
		return model.logImprovement(candidates, expected, handicap, best, floor)
	})
}

// training is what a model learns from, in the order told.
type training struct {
	points [][]uint16
	values []float64
}

// working returns the number of values that are times.
func (t *training) working() int {
	count := 0
	for _, value := range t.values {
		if value != failedTime {
			count++
		}
	}
	return count
}

func (t *training) add(point []uint16, value float64) {
	t.points = append(t.points, point)
	t.values = append(t.values, value)
}

// failedTime marks a failure among times until they are scaled. It is no
// number that anything is computed with.
var failedTime = math.Inf(1)

// newTraining takes the fastest of the working observations, and at most as many
// failures, the latest: where nearly everything fails, the model must not be
// about failures. They are marked by failedTime and stay in the order told.
func newTraining(pool *space.Pool, axes []axis, told []Observation, most int) training {
	limit, working, ties := fastestOf(told, most)
	failures := 0
	for _, o := range told {
		if o.Failed {
			failures++
		}
	}
	skipped := max(0, failures-min(working, most-working))
	t := training{}
	for _, o := range told {
		switch {
		case o.Failed && skipped > 0:
			skipped--
		case o.Failed:
			t.add(valuesOf(axes, pool.Row(o.Index)), failedTime)
		case o.Milliseconds < limit:
			t.add(valuesOf(axes, pool.Row(o.Index)), o.Milliseconds)
		case o.Milliseconds == limit && ties > 0:
			ties-- // the first come, so that every faster one has its place
			t.add(valuesOf(axes, pool.Row(o.Index)), o.Milliseconds)
		}
	}
	return t
}

// fastestOf returns the largest of the most fastest times, their number, and how many
// of them are as large as that: there may be more of those than fit.
func fastestOf(observations []Observation, most int) (limit float64, count, ties int) {
	var times []float64
	for _, o := range observations {
		if !o.Failed {
			times = append(times, o.Milliseconds)
		}
	}
	if len(times) == 0 {
		return 0, 0, 0
	}
	slices.Sort(times)
	count = min(most, len(times))
	limit = times[count-1]
	first, _ := slices.BinarySearch(times, limit)
	return limit, count, count - first
}

// scaledTimes returns logarithms of times, 0 at the median and -1 at the best,
// with the part above the median compressed by another logarithm. Failures come
// out at 0.
func scaledTimes(times []float64) []float64 {
	var working []float64
	for _, t := range times {
		if t != failedTime {
			working = append(working, math.Log(t))
		}
	}
	scaled := make([]float64, len(times))
	if len(working) == 0 {
		return scaled
	}
	slices.Sort(working)
	best, median := working[0], working[len(working)/2]
	scale := max(median-best, 1e-9)
	for i, t := range times {
		if t == failedTime {
			continue
		}
		if scaled[i] = (math.Log(t) - median) / scale; scaled[i] > 0 {
			scaled[i] = math.Log1p(scaled[i])
		}
	}
	return scaled
}

// fittedProcess remembers a process and what its parameters were fitted to.
// Both are functions of the observations alone: what is remembered saves time
// only.
type fittedProcess struct {
	// most bounds the observations that the parameters are fitted to.
	most       int
	told       []Observation
	parameters kernelParameters
	fit        training
	process    *gaussianProcess
	// base is the number of points that the process was factorised with; the
	// others were added to it.
	base int
}

// fitCount returns how many of n observations the parameters are fitted to:
// the last number of a row that grows by an eighth. Between two of them the
// factor is extended instead.
func fitCount(n int) int {
	count := min(n, gpWorking)
	for next := count; next <= n; next += max(1, next/8) {
		count = next
	}
	return count
}

// over returns the process over the training data, not yet conditioned. Selected
// makes training data of observations, and scale turns its values into what the
// process models.
func (f *fittedProcess) over(shape kernelShape, told []Observation, data training, selected func([]Observation) training, scale func([]float64) []float64) *gaussianProcess {
	told = told[:fitCount(len(told))]
	if f.parameters == nil || !slices.EqualFunc(f.told, told, sameObservation) {
		fit := selected(told)
		points, scaled := thinned(fit.points, scale(fit.values), f.most)
		*f = fittedProcess{most: f.most, told: slices.Clone(told), fit: fit, parameters: fitParameters(shape, points, centred(scaled))}
	}
	// Where old observations have made room for new ones there is nothing to
	// extend. The base depends on the data alone, so that the same sums are
	// done in the same order whatever is remembered.
	base := len(data.points)
	if isPrefix(f.fit.points, data.points) {
		base = len(f.fit.points)
	}
	if f.process == nil || f.base != base || !isPrefix(f.process.points, data.points) {
		f.base = base
		f.process = newGaussianProcess(newCorrelation(shape, f.parameters), shape.noise(f.parameters), data.points[:base])
	}
	for _, point := range data.points[len(f.process.points):] {
		f.process.extend(point)
	}
	return f.process
}

func sameObservation(a, b Observation) bool {
	return a.Index == b.Index && a.Failed == b.Failed && (a.Failed || a.Milliseconds == b.Milliseconds)
}

func isPrefix(prefix, points [][]uint16) bool {
	return len(prefix) <= len(points) && slices.EqualFunc(prefix, points[:len(prefix)], slices.Equal[[]uint16])
}

// thinned keeps at most so many observations, evenly by rank: lengths are a
// matter of the whole range.
func thinned(points [][]uint16, y []float64, most int) ([][]uint16, []float64) {
	if len(y) <= most {
		return points, y
	}
	ranks := make([]int, len(y))
	for i := range ranks {
		ranks[i] = i
	}
	slices.SortStableFunc(ranks, func(a, b int) int {
		switch {
		case y[a] < y[b]:
			return -1
		case y[a] > y[b]:
			return 1
		}
		return 0
	})
	var keptPoints [][]uint16
	var kept []float64
	for i := range most {
		at := ranks[i*len(ranks)/most]
		keptPoints, kept = append(keptPoints, points[at]), append(kept, y[at])
	}
	return keptPoints, kept
}

func centred(y []float64) []float64 {
	mean := 0.0
	for _, value := range y {
		mean += value / float64(len(y))
	}
	c := make([]float64, len(y))
	for i, value := range y {
		c[i] = value - mean
	}
	return c
}
