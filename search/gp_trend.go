package search

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// trend is what earlier studies expect of a point: the part of the model that
// comes from elsewhere.
//
// Each earlier study becomes a Gaussian process of its own. Its predictions, on
// its own scale of times, enter this study's model as a mean function with a
// weight that is estimated from this study's observations at every ask and fades
// as they become many. A study that says nothing about this one gets the weight 0
// and the model is the one of a cold start.
type trend struct {
	memory    []Memory
	processes []*gaussianProcess
	columns   []*columns
	scratch   []float64
}

const (
	// trendMost bounds the observations of an earlier study, evenly by rank:
	// its best points alone would not say where the slow ones are.
	trendMost = 120
	// trendLeast is the number of observations that an earlier study must have.
	trendLeast = 10
	// trendDoubt is the prior precision of a weight, in units of the signal: how
	// strongly it is drawn towards 0, which is no trend at all.
	trendDoubt = 1
	// trendFade is the number of own observations that halve the weights.
	trendFade = 10
)

// over returns the trend of a view. It depends on the view's memory alone, so
// what is remembered saves time only.
func (t *trend) over(shape kernelShape, view *View) *trend {
	if sameMemories(t.memory, view.Earlier) {
		return t.known()
	}
	*t = trend{memory: view.Earlier}
	for _, memory := range view.Earlier {
		if len(memory) < trendLeast {
			continue
		}
		var points [][]uint16
		var times []float64
		for _, m := range memory {
			points = append(points, valuesOf(shape.axes, m.Row))
			times = append(times, m.Milliseconds)
		}
		scaled := scaledTimes(times)
		fitPoints, fitted := thinned(points, scaled, gpFitMost)
		parameters := fitParameters(shape, fitPoints, centred(fitted))
		points, scaled = thinned(points, scaled, trendMost)
		process := newGaussianProcess(newCorrelation(shape, parameters), shape.noise(parameters), points)
		process.condition(scaled)
		t.processes = append(t.processes, process)
		t.columns = append(t.columns, newColumns(process))
	}
	t.scratch = make([]float64, trendMost)
	return t.known()
}

// known returns nil where no earlier study has seen enough.
func (t *trend) known() *trend {
	if len(t.processes) == 0 {
		return nil
	}
	return t
}

// sameMemories compares by identity first: views keep their memory.
func sameMemories(a, b []Memory) bool {
	return slices.EqualFunc(a, b, func(x, y Memory) bool {
		return len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0] || slices.EqualFunc(x, y, func(p, q Remembered) bool {
			return p.Milliseconds == q.Milliseconds && slices.Equal(p.Row, q.Row)
		}))
	})
}

// at returns what each earlier study expects of a point. The result is the
// caller's.
func (t *trend) at(values []uint16) []float64 {
	expected := make([]float64, len(t.processes))
	for e, process := range t.processes {
		k := t.scratch[:len(process.points)]
		t.columns[e].at(values, k)
		n := len(k)
		expected[e] = process.mean + blas64.Dot(blas64.Vector{N: n, Inc: 1, Data: process.weights}, blas64.Vector{N: n, Inc: 1, Data: k})
	}
	return expected
}

// atAll returns what the earlier studies expect of many points, by study; nil
// without any.
func (t *trend) atAll(points [][]uint16) [][]float64 {
	if t == nil {
		return nil
	}
	expected := make([][]float64, len(t.processes))
	for _, values := range points {
		for e, value := range t.at(values) {
			expected[e] = append(expected[e], value)
		}
	}
	return expected
}

// weigh estimates the weights of the expectations for observed values: the
// generalised least squares estimate under the correlations of a factor, drawn
// towards 0, and never below it, because a study that is wrong throughout is more
// likely chance than a good guide backwards. There is at least one expectation.
func weigh(expected [][]float64, y []float64, factor blas64.Triangular) []float64 {
	factor.N = len(y) // pending points have no values
	whitened := func(values []float64) blas64.Vector {
		v := blas64.Vector{N: len(y), Inc: 1, Data: centred(values)}
		blas64.Trsv(blas.NoTrans, factor, v)
		return v
	}
	weights := make([]float64, len(expected))
	var columns []blas64.Vector
	for _, values := range expected {
		columns = append(columns, whitened(values))
	}
	left := whitened(y)
	// Coordinate descent: each weight in turn for what the others leave over.
	for range trendSweeps {
		for e, column := range columns {
			squares := blas64.Dot(column, column)
			updated := max(0, (blas64.Dot(column, left)+weights[e]*squares)/(squares+trendDoubt))
			blas64.Axpy(weights[e]-updated, column, left)
			weights[e] = updated
		}
	}
	return weights
}

// trendSweeps is enough for the few studies that are remembered.
const trendSweeps = 30

// condition conditions a process on observed values with what the earlier studies
// expect as the mean, and returns the weights. Without earlier studies it is the
// plain condition.
//
// The weights fade as observations come: what another study knows helps to find
// the good region and misleads within it. For the same reason the process keeps
// the variance that it has without the trend: an explained past must not make the
// search surer of what is left.
func (t *trend) condition(process *gaussianProcess, points [][]uint16, y []float64) []float64 {
	process.condition(y)
	expected := t.atAll(points)
	if len(expected) == 0 {
		return nil
	}
	cold := process.variance
	weights := weigh(expected, y, process.factor)
	for e := range weights {
		weights[e] *= trendFade / (trendFade + float64(len(y)))
	}
	process.condition(difference(y, combined(expected, weights, len(y))))
	process.variance = max(process.variance, cold)
	return weights
}

// difference returns y less what was expected.
func difference(y, expected []float64) []float64 {
	left := make([]float64, len(y))
	for i := range y {
		left[i] = y[i] - expected[i]
	}
	return left
}

// combined sums up expectations by their weights, one sum per point.
func combined(expected [][]float64, weights []float64, points int) []float64 {
	sums := make([]float64, points)
	for e, weight := range weights {
		for i, value := range expected[e] {
			sums[i] += weight * value
		}
	}
	return sums
}
