package stats

import (
	"cmp"
	"math"
	"slices"
)

// Block returns the percentile interval of the median of samples in the order in
// which they were measured, by resampling circular blocks of consecutive samples
// (Politis and Romano 1992). Blocks keep the autocorrelation that independent
// draws destroy: timings of one process, with a lag-1 autocorrelation of 0.9, have
// an interval four times as wide as [Bootstrap.Median] claims.
//
// Even so a block bootstrap needs many blocks: with a handful the interval is
// still too narrow, and several processes are the cure.
func (b Bootstrap) Block(samples []float64) Interval {
	require("Bootstrap.Block", samples)
	return b.blocks(samples, blockLength(samples))
}

func (b Bootstrap) blocks(samples []float64, length int) Interval {
	n, counts := len(samples), newRankCounts(samples)
	// The ranks go round the circle once more so that no block needs a modulo.
	circle := slices.Concat(counts.ranks, counts.ranks[:length])
	random := newSource()
	return b.percentile(func() float64 {
		counts.clear()
		for missing := n; missing > 0; missing -= length {
			start := random.index(n)
			counts.add(circle[start : start+min(length, missing)])
		}
		return counts.median()
	})
}

// blockLength returns the block length for a bootstrap of the median of samples in
// measured order: the automatic choice of Politis and White (2004, corrected by
// Patton, Politis and White 2009) for circular blocks, and at least the cube root
// of the number of samples, because a short series can hide its dependence.
//
// The choice is made on the sign of each sample's distance to the median rather
// than on the sample. The sign is the influence function of the median, so its
// autocorrelation is the one that widens the median's interval, and an outlier
// cannot drown it.
func blockLength(samples []float64) int {
	center := Median(samples)
	signs := make([]float64, len(samples))
	for i, sample := range samples {
		signs[i] = float64(cmp.Compare(sample, center))
	}
	n := float64(len(samples))
	atLeast := math.Floor(math.Cbrt(n))
	atMost := math.Max(1, math.Ceil(math.Min(3*math.Sqrt(n), n/3)))
	return int(math.Min(atMost, math.Max(atLeast, math.Round(politisWhite(signs)))))
}

// politisWhite returns the length of circular blocks that minimizes the mean
// squared error of the variance of the mean of series, before any bounds. Its
// window ends with the dependence that the autocorrelations show.
func politisWhite(series []float64) float64 {
	n := float64(len(series))
	// The authors' constants: a run of five insignificant autocorrelations ends the
	// dependence, and none is looked at beyond the square root of n and that run.
	const run = 5
	limit := min(int(math.Ceil(math.Sqrt(n)))+run, len(series)-1)
	significant := 2 * math.Sqrt(math.Log10(n)/n)
	last := 0
	for lag := 1; lag <= limit && lag-last <= run; lag++ {
		if math.Abs(autocorrelation(series, lag)) >= significant {
			last = lag
		}
	}
	window := min(2*last, limit)
	spectrum, slope := 1.0, 0.0 // both over the variance, which cancels
	for lag := 1; lag <= window; lag++ {
		taper := math.Min(1, 2*(1-float64(lag)/float64(window)))
		weighted := 2 * taper * autocorrelation(series, lag)
		spectrum += weighted
		slope += weighted * float64(lag)
	}
	return math.Cbrt(1.5 * slope * slope / (spectrum * spectrum) * n)
}

// autocorrelation returns the correlation of the samples with themselves lag samples
// later, by the usual estimator that divides by n at every lag and so stays in
// [-1, 1]. It is 0 at a lag that leaves no pair and, past lag 0, for samples that do
// not vary.
func autocorrelation(samples []float64, lag int) float64 {
	if lag == 0 {
		return 1
	}
	mean, squares := meanAndSquares(samples)
	if squares == 0 {
		return 0
	}
	products := 0.0
	for i := lag; i < len(samples); i++ {
		products += (samples[i] - mean) * (samples[i-lag] - mean)
	}
	return products / squares
}
