package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// BCa returns the bias-corrected and accelerated interval of statistic over
// independent samples (Efron 1987; Efron and Tibshirani 1993, chapter 14). It is
// for smooth statistics such as a trimmed mean, a spread or a ratio of sums. It
// takes its acceleration from the jackknife, which is inconsistent for the median
// (Efron 1982, section 3.4): use [Bootstrap.Median] there.
//
// The statistic may reorder the slice that it is given but must not keep it, and
// must return a finite number for every resample. A single sample, or a statistic
// that no resample changes, gives an interval of no width.
func (b Bootstrap) BCa(samples []float64, statistic func([]float64) float64) Interval {
	b = b.withDefaults()
	require("Bootstrap.BCa", samples)
	random := b.source()
	scratch := slices.Clone(samples)
	observed := statistic(scratch)

	draws := make([]float64, b.Resamples)
	for i := range draws {
		for j := range scratch {
			scratch[j] = samples[random.index(len(samples))]
		}
		draws[i] = statistic(scratch)
	}
	require("Bootstrap.BCa statistic", draws)
	slices.Sort(draws)

	bias := biasCorrection(draws, observed)
	acceleration := jackknifeAcceleration(samples, statistic)
	tail := (1 - b.Level) / 2
	return Interval{
		Low:  quantileSorted(draws, adjustedShare(tail, bias, acceleration)),
		High: quantileSorted(draws, adjustedShare(1-tail, bias, acceleration)),
	}
}

// biasCorrection is z0, the normal quantile of the share of draws below the
// observed value. Ties count half, and the share is kept half a draw away from 0
// and 1, where the quantile is infinite.
func biasCorrection(ascending []float64, observed float64) float64 {
	below, _ := slices.BinarySearch(ascending, observed)
	notAbove := below
	for notAbove < len(ascending) && ascending[notAbove] == observed {
		notAbove++
	}
	count := float64(len(ascending))
	share := float64(below+notAbove) / 2 / count
	return distuv.UnitNormal.Quantile(min(max(share, 0.5/count), 1-0.5/count))
}

// jackknifeAcceleration is a sixth of the skewness of the statistic's
// leave-one-out values, and 0 where they do not vary.
func jackknifeAcceleration(samples []float64, statistic func([]float64) float64) float64 {
	n := len(samples)
	if n < 2 {
		return 0
	}
	left := make([]float64, n)
	scratch := make([]float64, n-1)
	mean := 0.0
	for i := range samples {
		copy(scratch, samples[:i])
		copy(scratch[i:], samples[i+1:])
		left[i] = statistic(scratch)
		mean += left[i] / float64(n)
	}
	var squares, cubes float64
	for _, value := range left {
		deviation := mean - value
		squares += deviation * deviation
		cubes += deviation * deviation * deviation
	}
	if squares == 0 {
		return 0
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}

// adjustedShare moves the share of a tail by bias and acceleration.
func adjustedShare(share, bias, acceleration float64) float64 {
	z := bias + distuv.UnitNormal.Quantile(share)
	shrink := 1 - acceleration*z
	if shrink <= 0 {
		// At the pole of the transformation the share has reached the end of the range on z's side, and it stays there.
		if z > 0 {
			return 1
		}
		return 0
	}
	return distuv.UnitNormal.CDF(bias + z/shrink)
}
