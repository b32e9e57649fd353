package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// PooledRatios returns the geometric mean of each group of positive ratios and its interval at a level. The groups are
// small and were measured in the same way, so that they share one spread: that of all ratios about the means of their
// groups (a one-way analysis of variance of the logarithms). A group without ratios has a mean of 1; intervals are
// unbounded where fewer than three degrees of freedom are left to judge by.
func PooledRatios(groups [][]float64, level float64) (means []float64, intervals []Interval) {
	requireLevel(level)
	squares, freedom := 0.0, 0
	logMeans := make([]float64, len(groups))
	for i, group := range groups {
		for _, ratio := range group {
			requirePositive("PooledRatios", []float64{ratio})
			logMeans[i] += math.Log(ratio) / float64(len(group))
		}
		for _, ratio := range group {
			squares += (math.Log(ratio) - logMeans[i]) * (math.Log(ratio) - logMeans[i])
		}
		freedom += max(len(group)-1, 0)
	}
	for i, group := range groups {
		means = append(means, math.Exp(logMeans[i]))
		if freedom < 3 || len(group) == 0 {
			intervals = append(intervals, Unbounded())
			continue
		}
		t := distuv.StudentsT{Sigma: 1, Nu: float64(freedom)}.Quantile((1 + level) / 2)
		half := t * math.Sqrt(squares/float64(freedom)/float64(len(group)))
		intervals = append(intervals, Interval{math.Exp(logMeans[i] - half), math.Exp(logMeans[i] + half)})
	}
	return means, intervals
}
