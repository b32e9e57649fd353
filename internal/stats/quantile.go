package stats

import (
	"fmt"
	"math"
	"slices"
)

// Median returns the middle sample, or the mean of the middle two. It panics on an empty sample and on NaN or Inf.
func Median(samples []float64) float64 {
	return medianSorted(sorted("Median", samples))
}

// Quantile returns the value below which the share p of the samples lies, p in
// [0, 1], interpolating linearly between order statistics: type 7 of Hyndman and
// Fan (1996), the default of R, NumPy and Julia. It panics on an empty sample, on
// NaN or Inf, and on a p outside [0, 1].
func Quantile(samples []float64, p float64) float64 {
	return quantileSorted(sorted("Quantile", samples), p)
}

func sorted(operation string, samples []float64) []float64 {
	require(operation, samples)
	ascending := slices.Clone(samples)
	slices.Sort(ascending)
	return ascending
}

func medianSorted(ascending []float64) float64 {
	n := len(ascending)
	return midpoint(ascending[(n-1)/2], ascending[n/2])
}

// midpoint is exact where both values are equal, as the two middle ranks of an odd sample are.
func midpoint(low, high float64) float64 { return low + (high-low)/2 }

// quantileSorted is Quantile of samples that are in ascending order.
func quantileSorted(ascending []float64, p float64) float64 {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("stats: quantile %v is outside [0, 1]", p))
	}
	position := p * float64(len(ascending)-1)
	below := int(math.Floor(position))
	if below >= len(ascending)-1 {
		return ascending[len(ascending)-1]
	}
	return ascending[below] + (position-float64(below))*(ascending[below+1]-ascending[below])
}
