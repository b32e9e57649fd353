package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// CV returns the coefficient of variation: the standard deviation of the samples
// over their mean, of everything that was measured. It is what a reader takes the
// word for; [RobustCV] is what is left of it on a steady machine. One sample does
// not vary: 0.
func CV(samples []float64) float64 {
	requirePositive("CV", samples)
	if len(samples) == 1 {
		return 0
	}
	mean, squares := meanAndSquares(samples)
	return math.Sqrt(squares/float64(len(samples)-1)) / mean
}

// Mean returns the arithmetic mean. It is for people who compare with other tools; nothing is decided by it.
func Mean(samples []float64) float64 {
	require("Mean", samples)
	mean, _ := meanAndSquares(samples)
	return mean
}

// MeanInterval returns Student's interval of the mean of independent samples at a level. That of one sample has no
// width.
func MeanInterval(samples []float64, level float64) Interval {
	require("MeanInterval", samples)
	requireLevel(level)
	mean, squares := meanAndSquares(samples)
	if squares == 0 {
		return Interval{Low: mean, High: mean}
	}
	n := float64(len(samples))
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1+level)/2) * math.Sqrt(squares/(n-1)/n)
	return Interval{Low: mean - half, High: mean + half}
}

// meanAndSquares returns the mean and the sum of squared deviations from it. It
// works on distances to the first sample, so that equal samples give that sample
// and exactly zero.
func meanAndSquares(samples []float64) (mean, squares float64) {
	shift := 0.0
	for _, sample := range samples {
		shift += (sample - samples[0]) / float64(len(samples))
	}
	for _, sample := range samples {
		deviation := sample - samples[0] - shift
		squares += deviation * deviation
	}
	return samples[0] + shift, squares
}
