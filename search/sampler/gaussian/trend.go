package gaussian

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Trend is what earlier studies expect of a point: the part of the model that comes
// from elsewhere. A nil Trend expects nothing.
//
// Each earlier study becomes a process of its own. Its predictions, on its own scale
// of times, enter this study's model as a mean function with a weight that is
// estimated from this study's observations at every ask and shrinks as they become
// many. A study that says nothing about this one gets the weight 0 and the model is
// the one of a cold start.
type Trend struct {
	settings  Settings
	processes []*Process
	scratch   []float64
}

// NewTrend makes a trend of what earlier studies have observed, on scales of their
// own. It returns nil for none.
func NewTrend(shape Shape, earlier []Data) *Trend {
	if len(earlier) == 0 {
		return nil
	}
	t := &Trend{settings: shape.settings, scratch: make([]float64, shape.settings.TrendMost)}
	for _, data := range earlier {
		fitted := Fitted{Most: shape.settings.TrendFit}
		kept := data.thinned(shape.settings.TrendMost)
		process := fitted.Over(shape, data, kept.Points)
		process.Condition(kept.Values)
		t.processes = append(t.processes, process)
	}
	return t
}

// expect returns what the earlier studies expect of points, by study; nil without
// any.
func (t *Trend) expect(points [][]uint16) [][]float64 {
	if t == nil {
		return nil
	}
	expected := make([][]float64, len(t.processes))
	for e, process := range t.processes {
		k := t.scratch[:len(process.points)]
		for _, values := range points {
			process.correlations(values, k)
			expected[e] = append(expected[e], process.mean+dot(process.weights, k))
		}
	}
	return expected
}

// weigh estimates the weights of the expectations for observed values: the
// generalised least squares estimate under the correlations of a factor, drawn
// towards 0, and never below it, because a study that is wrong throughout is more
// likely chance than a good guide backwards. There is at least one expectation.
func (t *Trend) weigh(expected [][]float64, y []float64, factor blas64.Triangular) []float64 {
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
	for range t.settings.TrendSweeps {
		for e, column := range columns {
			squares := blas64.Dot(column, column)
			updated := max(0, (blas64.Dot(column, left)+weights[e]*squares)/(squares+t.settings.TrendPrecision))
			blas64.Axpy(weights[e]-updated, column, left)
			weights[e] = updated
		}
	}
	return weights
}

// Condition conditions a process on observed values with what the earlier studies
// expect as the mean, and returns the weights. Without earlier studies it is the
// plain condition.
//
// The weights shrink as observations come: what another study knows helps to find
// the good region and misleads within it. For the same reason the process keeps
// the variance that it has without the trend: an explained past must not make the
// search surer of what is left.
func (t *Trend) Condition(process *Process, points [][]uint16, y []float64) []float64 {
	process.Condition(y)
	expected := t.expect(points)
	if len(expected) == 0 {
		return nil
	}
	cold := process.variance
	weights := t.weigh(expected, y, process.factor)
	for e := range weights {
		weights[e] *= t.settings.TrendHalving / (t.settings.TrendHalving + float64(len(y)))
	}
	residuals := make([]float64, len(y))
	for i, sum := range combined(expected, weights, len(y)) {
		residuals[i] = y[i] - sum
	}
	process.Condition(residuals)
	process.variance = max(process.variance, cold)
	return weights
}

// Expect returns the weighted sum of what the earlier studies expect, one for each
// point.
func (t *Trend) Expect(points [][]uint16, weights []float64) []float64 {
	return combined(t.expect(points), weights, len(points))
}

func combined(expected [][]float64, weights []float64, points int) []float64 {
	sums := make([]float64, points)
	for e, weight := range weights {
		for i, value := range expected[e] {
			sums[i] += weight * value
		}
	}
	return sums
}
