package gaussian

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"pawl/internal/collect"
)

// Trend is what earlier studies expect of a point: the part of the model that comes
// from elsewhere. A nil Trend expects nothing.
//
// Each earlier study becomes a process of its own. Its predictions, on its own scale
// of times, enter this study's model as a mean function for as long as they lead to
// better points (Followed); then the model is the one of a cold start.
type Trend struct {
	settings  Settings
	processes []*Process
	scratch   []float64
}

// NewTrend makes a trend of what earlier studies have observed, on scales of their own. It returns nil for none.
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

// expect returns what the earlier studies expect of points, by study; nil without any.
func (t *Trend) expect(points [][]uint16) [][]float64 {
	if t == nil {
		return nil
	}
	expected := make([][]float64, len(t.processes))
	for e, process := range t.processes {
		k := t.scratch[:len(process.points)]
		for _, values := range points {
			process.correlations(values, k)
			expected[e] = append(expected[e], process.mean+floats.Dot(process.weights, k))
		}
	}
	return expected
}

// weigh estimates the weights of the expectations for observed values: the
// generalised least squares estimate under the correlations of a factor, drawn
// towards equal shares of 1, and never below 0, because a study that is wrong throughout
// is more likely chance than a good guide backwards.
func (t *Trend) weigh(expected [][]float64, y []float64, factor blas64.Triangular) []float64 {
	precision, share := t.settings.FollowPrecision, 1/float64(len(expected))
	factor.N = len(y) // pending points have no values
	whitened := func(values []float64) blas64.Vector {
		v := blas64.Vector{N: len(y), Inc: 1, Data: centered(values)}
		blas64.Trsv(blas.NoTrans, factor, v)
		return v
	}
	weights := make([]float64, len(expected))
	columns := collect.Each(expected, func(values []float64) blas64.Vector { return whitened(values) })
	left := whitened(y)
	// Coordinate descent: each weight in turn for what the others leave over.
	for range t.settings.TrendSweeps {
		for e, column := range columns {
			squares := blas64.Dot(column, column)
			updated := max(0, (blas64.Dot(column, left)+weights[e]*squares+precision*share)/(squares+precision))
			blas64.Axpy(weights[e]-updated, column, left)
			weights[e] = updated
		}
	}
	return weights
}

// Expect returns the weighted sum of what the earlier studies expect, one for each point.
func (t *Trend) Expect(points [][]uint16, weights []float64) []float64 {
	if len(weights) == 0 { // none is followed
		return make([]float64, len(points))
	}
	return combined(t.expect(points), weights, len(points))
}

func combined(expected [][]float64, weights []float64, points int) []float64 {
	sums := make([]float64, points)
	for e, weight := range weights {
		floats.AddScaled(sums, weight, expected[e])
	}
	return sums
}
