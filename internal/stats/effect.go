package stats

import (
	"fmt"
	"math"
)

// CliffsDelta returns (#(x>y) - #(x<y)) / (n·m) over all pairs of one value of x
// and one of y; ties count for neither (Cliff 1993). It is 1 where all of x lies
// above all of y and -1 where all lies below. With x the baseline and y the
// candidate, positive means that the candidate is faster.
func CliffsDelta(x, y []float64) float64 {
	return cliffsDeltaSorted(sorted("CliffsDelta", x), sorted("CliffsDelta", y))
}

// cliffsDeltaSorted walks both samples once: each x is above the ys before one
// position and below those from another.
func cliffsDeltaSorted(x, y []float64) float64 {
	below, notAbove, balance := 0, 0, 0
	for _, value := range x {
		for below < len(y) && y[below] < value {
			below++
		}
		for notAbove < len(y) && y[notAbove] <= value {
			notAbove++
		}
		balance += below - (len(y) - notAbove)
	}
	return float64(balance) / (float64(len(x)) * float64(len(y)))
}

// A Magnitude is the verbal size of a Cliff's delta.
type Magnitude int

// The magnitudes and their bands of |delta|, after Romano et al. (2006), who
// matched them to Cohen's small, medium and large.
const (
	Negligible Magnitude = iota // below 0.147
	Small                       // from 0.147
	Medium                      // from 0.33
	Large                       // from 0.474
)

// magnitudes lists name and lower bound of |delta| by Magnitude.
var magnitudes = [...]struct {
	name string
	from float64
}{
	Negligible: {"negligible", 0},
	Small:      {"small", 0.147},
	Medium:     {"medium", 0.33},
	Large:      {"large", 0.474},
}

// MagnitudeOf returns the band of a Cliff's delta, whose sign does not matter. It
// panics on a delta outside [-1, 1].
func MagnitudeOf(delta float64) Magnitude {
	size := math.Abs(delta)
	if !(size <= 1) {
		panic(fmt.Sprintf("stats: Cliff's delta %v is outside [-1, 1]", delta))
	}
	for magnitude := Large; magnitude > Negligible; magnitude-- {
		if size >= magnitudes[magnitude].from {
			return magnitude
		}
	}
	return Negligible
}

// String returns the band's name in lower case.
func (m Magnitude) String() string {
	if m < 0 || int(m) >= len(magnitudes) {
		return fmt.Sprintf("Magnitude(%d)", int(m))
	}
	return magnitudes[m].name
}

// HedgesG returns (mean(x) - mean(y)) over the pooled standard deviation, times
// the exact correction for small samples (Hedges 1981, with the gamma function
// rather than its approximation 1-3/(4·df-1)). With x the baseline and y the
// candidate, positive means that the candidate is faster. It uses means, so one
// outlier moves it: [CliffsDelta] is the measure to decide by.
//
// It needs two samples on each side. Where neither side varies it is 0 for equal
// means and ±Inf for different ones.
func HedgesG(x, y []float64) float64 {
	require("HedgesG", x)
	require("HedgesG", y)
	if len(x) < 2 || len(y) < 2 {
		panic(fmt.Sprintf("stats: HedgesG of %d and %d samples needs two each", len(x), len(y)))
	}
	meanX, squaresX := meanAndSquares(x)
	meanY, squaresY := meanAndSquares(y)
	if meanX == meanY {
		return 0
	}
	freedom := float64(len(x) + len(y) - 2)
	whole, _ := math.Lgamma(freedom / 2)
	less, _ := math.Lgamma((freedom - 1) / 2)
	correction := math.Exp(whole-less) / math.Sqrt(freedom/2)
	return correction * (meanX - meanY) / math.Sqrt((squaresX+squaresY)/freedom)
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
