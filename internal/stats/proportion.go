package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Proportion returns the interval of a rate that was seen so many times of n, at a
// confidence level, by Wilson's score (1927). It never leaves [0, 1], and 0 of n
// still says how large the rate may be: 0 of 100 at 0.95 reaches 3.7 %. It panics
// unless 0 <= successes <= n, n > 0 and the level is in (0, 1).
func Proportion(successes, n int, level float64) Interval {
	if n < 1 || successes < 0 || successes > n {
		panic(fmt.Sprintf("stats: Proportion of %d of %d", successes, n))
	}
	requireLevel(level)
	z := distuv.UnitNormal.Quantile((1 + level) / 2)
	size, share := float64(n), float64(successes)/float64(n)
	center := (share + z*z/(2*size)) / (1 + z*z/size)
	half := z / (1 + z*z/size) * math.Sqrt(share*(1-share)/size+z*z/(4*size*size))
	return Interval{Low: max(0, center-half), High: min(1, center+half)}
}
