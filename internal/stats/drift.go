package stats

import (
	"slices"

	"pawl/internal/collect"
)

// Drift returns the [Change] from the median of the first third of the samples to
// that of the last third. As every change it is positive when the timings got
// faster; a chip that heats up drifts negative. A step anywhere from a sixth to
// five sixths of the run counts in full, a steady slope with two thirds of its
// total, and outliers at either end do not count. Fewer than three samples have no
// drift: 0.
func Drift(samples []float64) float64 {
	requirePositive("Drift", samples)
	third := len(samples) / 3
	if third == 0 {
		return 0
	}
	return Change(Median(samples[:third]), Median(samples[len(samples)-third:]))
}

// RobustCV returns the coefficient of variation of the samples in measured order,
// 1.4826·MAD/median, after removing drift: first the steps, by moving each segment
// between [ChangePoints] to the overall median, then the straight line that is
// left, by the slope of Theil and Sen. The factor makes it the standard deviation
// over the mean for normal samples. What remains is the noise of a steady machine;
// [Drift] and [ChangePoints] report what was taken away.
func RobustCV(samples []float64) float64 {
	requirePositive("RobustCV", samples)
	// 1.4826 is 1 over the upper quartile of the normal distribution.
	const normalConsistent = 1.4826
	residuals := withoutSteps(samples, ChangePoints(samples, ChangePointOptions{}))
	slope := theilSen(residuals)
	for i := range residuals {
		residuals[i] -= slope * float64(i)
	}
	return normalConsistent * medianDeviation(residuals) / Median(samples)
}

// withoutSteps returns the samples less the median of the segment each lies in,
// where a segment begins at each of the starts.
func withoutSteps(samples []float64, starts []int) []float64 {
	residuals := slices.Clone(samples)
	first := 0
	for _, next := range append(slices.Clone(starts), len(samples)) {
		level := Median(samples[first:next])
		for i := first; i < next; i++ {
			residuals[i] -= level
		}
		first = next
	}
	return residuals
}

// medianDeviation returns the median distance to the median, unscaled.
func medianDeviation(samples []float64) float64 {
	center := Median(samples)
	return Median(collect.Each(samples, func(sample float64) float64 { return max(sample-center, center-sample) }))
}

// theilSen returns the median of the slopes between all pairs of samples, per
// sample (Theil 1950, Sen 1968): up to 29 % of the samples may be outliers. Beyond
// 128 samples the pairs are those of 128 block medians, which bounds the work and
// loses nothing that a slope over a whole run could show.
func theilSen(samples []float64) float64 {
	const points = 128
	n := len(samples)
	count := min(n, points)
	if count < 2 {
		return 0
	}
	values, positions := make([]float64, count), make([]float64, count)
	for i := range values {
		first, next := i*n/count, (i+1)*n/count
		values[i] = Median(samples[first:next])
		positions[i] = float64(first+next-1) / 2
	}
	slopes := make([]float64, 0, count*(count-1)/2)
	for i := range values {
		for j := range i {
			slopes = append(slopes, (values[i]-values[j])/(positions[i]-positions[j]))
		}
	}
	return Median(slopes)
}
