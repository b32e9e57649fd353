// Package gaussian is a Gaussian process over points whose parameters have a few
// values each. It knows nothing of studies: it is given points and numbers.
//
//  1. Axes are the parameters that vary, with their values as coordinates. The other models of
//     package sampler see points like that too.
//  2. Shape says what the covariance looks at: which features of which axes.
//  3. Fitted finds its parameters, with the largest posterior density, and
//     keeps the process over the observations from one ask to the next.
//  4. Process predicts: means, deviations, the expected improvement.
//  5. Trend is a mean function out of earlier studies (warm start), Classifier a
//     probability out of labels.
//
// The process is written out on BLAS and LAPACK because its factor is extended by one
// point at a time and pending points are taken out again; mat.Cholesky takes 1.8 times
// as long for a fit and 40 times as long for the pending points (docs/search.md).
package gaussian

import (
	"cmp"
	"slices"

	"pawl/internal/collect"
)

// Settings are the numbers of the process that were chosen by measurement. docs/search.md has the figures.
type Settings struct {
	// LengthPrior is the mean of the log length scales before anything was
	// observed, LengthSpread the deviation. A length of about 0.7 says that half a
	// parameter's range changes much; the two values of a switch are as far apart
	// as the ends of a range.
	LengthPrior, LengthSpread float64
	// AlignmentPrior and SinglePrior are as LengthPrior: alignment counts for less
	// until the observations speak for it, and that a single value stands out for
	// less still.
	AlignmentPrior, SinglePrior float64
	// NoisePrior and NoiseSpread are of the log ratio of noise to signal variance.
	NoisePrior, NoiseSpread float64
	// MainEffectSpread is of the log ratio of main effects to interactions.
	MainEffectSpread float64
	// FitSteps is the number of steps of one fit.
	FitSteps int
	// LabelBlur is the variance that a classifier adds: a label is never quite certain.
	LabelBlur float64
	// TrendFit and TrendMost bound the observations of an earlier study that its
	// lengths are fitted to and that its process holds, evenly by rank: its best
	// points alone would not say where the slow ones are.
	TrendFit, TrendMost int
	// TrendSweeps is how often the weights are estimated in turn: enough for the few studies that are looked at.
	TrendSweeps int
	// FollowMisses is how many points that an earlier study expects to be good may
	// fail to be the best so far before it is no longer followed; one that is the best
	// takes a miss back.
	FollowMisses int
	// FollowCut is what a study must expect of a point to be held to it, on its own
	// scale: -1 is its best and 0 its median.
	FollowCut float64
	// FollowPrecision is how strongly the weight of a study that is followed is drawn towards 1.
	FollowPrecision float64
}

// Data are points and what was observed at them.
type Data struct {
	Points [][]uint16
	Values []float64
}

// Add appends an observation.
func (d *Data) Add(point []uint16, value float64) {
	d.Points, d.Values = append(d.Points, point), append(d.Values, value)
}

// Fitted keeps a process and what its parameters were fitted to. Both are functions
// of the data alone: keeping them saves time only.
type Fitted struct {
	// Most bounds the observations that the parameters are fitted to.
	Most       int
	fit        Data
	parameters Parameters
	process    *Process
	// base is the number of points that the process was factorised with; the others were added to it.
	base int
}

// Over returns the process over some points, not yet conditioned, with parameters fitted to the data.
func (f *Fitted) Over(shape Shape, data Data, points [][]uint16) *Process {
	if f.parameters == nil || !samePoints(f.fit.Points, data.Points) || !slices.Equal(f.fit.Values, data.Values) {
		thin := data.thinned(f.Most)
		*f = Fitted{Most: f.Most, fit: data, parameters: fit(shape, thin.Points, centered(thin.Values))}
	}
	// Where old observations have made room for new ones there is nothing to
	// extend. The base depends on the data alone, so that the same sums are
	// done in the same order whatever is kept.
	base := len(points)
	if isPrefix(f.fit.Points, points) {
		base = len(f.fit.Points)
	}
	if f.process == nil || f.base != base || !isPrefix(f.process.points, points) {
		f.base = base
		f.process = newProcess(newCorrelation(shape, f.parameters), shape.noise(f.parameters), points[:base])
	}
	for _, point := range points[len(f.process.points):] {
		f.process.Extend(point)
	}
	return f.process
}

func samePoints(a, b [][]uint16) bool { return slices.EqualFunc(a, b, slices.Equal[[]uint16]) }

func isPrefix(prefix, points [][]uint16) bool {
	return len(prefix) <= len(points) && samePoints(prefix, points[:len(prefix)])
}

// thinned keeps at most so many observations, evenly by rank: lengths are a matter of the whole range.
func (d Data) thinned(most int) Data {
	if len(d.Values) <= most {
		return d
	}
	ranks := make([]int, len(d.Values))
	for i := range ranks {
		ranks[i] = i
	}
	slices.SortStableFunc(ranks, func(a, b int) int { return cmp.Compare(d.Values[a], d.Values[b]) })
	var kept Data
	for i := range most {
		at := ranks[i*len(ranks)/most]
		kept.Add(d.Points[at], d.Values[at])
	}
	return kept
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += value / float64(len(values))
	}
	return sum
}

func centered(values []float64) []float64 {
	middle := mean(values)
	return collect.Each(values, func(value float64) float64 { return value - middle })
}
