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
