package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// PairwiseSpeedup compares two sets of independent timings that share no rounds:
// the median of baseline/candidate over all pairs of one from each (Hodges and
// Lehmann 1963, on logarithms), with its interval at the level. It is the estimate
// that belongs to [MannWhitney]. Unlike the ratio of the medians it stays where it
// is when each set has two modes and half of the timings in either.
//
// The interval is made of order statistics of the pairs (Moses; Hollander and Wolfe
// 1999, section 4.4) with the normal approximation of the rank. It assumes nothing
// about how timings are distributed, only that both sets are alike but for the
// ratio. Below [MinimumSamples] a side it is all that the pairs allow, the lowest
// and the highest ratio, and does not reach the level.
//
// More than a thousand timings a side are represented by a thousand quantiles.
func PairwiseSpeedup(baseline, candidate []float64, level float64) (float64, Interval) {
	requirePositive("PairwiseSpeedup", baseline)
	requirePositive("PairwiseSpeedup", candidate)
	requireLevel(level)
	x, y := fewer(baseline), fewer(candidate)
	ratios := make([]float64, 0, len(x)*len(y))
	for _, base := range x {
		for _, other := range y {
			ratios = append(ratios, math.Log(base)-math.Log(other))
		}
	}
	slices.Sort(ratios)
	n, m, pairs := float64(len(x)), float64(len(y)), float64(len(ratios))
	deviation := math.Sqrt(pairs * (n + m + 1) / 12)
	rank := int(math.Floor(pairs/2 - distuv.UnitNormal.Quantile((1+level)/2)*deviation - 0.5))
	rank = max(0, min(rank, (len(ratios)-1)/2))
	return math.Exp(medianSorted(ratios)),
		Interval{Low: math.Exp(ratios[rank]), High: math.Exp(ratios[len(ratios)-1-rank])}
}

// fewer returns samples in ascending order, or a thousand quantiles of more.
func fewer(samples []float64) []float64 {
	const most = 1000
	ascending := sorted("PairwiseSpeedup", samples)
	if len(ascending) <= most {
		return ascending
	}
	quantiles := make([]float64, most)
	for i := range quantiles {
		quantiles[i] = quantileSorted(ascending, float64(i)/(most-1))
	}
	return quantiles
}
