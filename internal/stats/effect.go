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

// cliffsDeltaSorted walks both samples once: each x is above the ys before one position and below those from another.
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

// Magnitude returns the verbal size of a Cliff's delta, whose sign does not matter, by the bands of Romano et al.
// (2006), who matched them to Cohen's small, medium and large. It panics on a delta outside [-1, 1].
func Magnitude(delta float64) string {
	switch size := math.Abs(delta); {
	case !(size <= 1):
		panic(fmt.Sprintf("stats: Cliff's delta %v is outside [-1, 1]", delta))
	case size >= 0.474:
		return "large"
	case size >= 0.33:
		return "medium"
	case size >= 0.147:
		return "small"
	}
	return "negligible"
}
