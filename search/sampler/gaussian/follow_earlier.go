package gaussian

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"pawl/internal/collect"
)

// Followed returns the places of the earlier studies whose expectations are followed: as
// long as the points that they expect to be good are the best so far. What a bad guide can
// cost is bounded by its misses, and a good one that has led to the optimum is not needed
// any more. Points are in the order observed, and the smaller value is the better.
func (t *Trend) Followed(points [][]uint16, values []float64) []int {
	var followed []int
	for e, expected := range t.expect(points) {
		if t.settings.follows(expected, values) {
			followed = append(followed, e)
		}
	}
	return followed
}

// follows reports whether a study with these expectations is still followed.
func (s Settings) follows(expected, values []float64) bool {
	misses, best := 0, math.Inf(1)
	for i, value := range values {
		switch {
		case expected[i] > s.FollowCut:
		case value < best:
			misses = max(0, misses-1)
		default:
			misses++
		}
		best = min(best, value)
		if misses == s.FollowMisses {
			return false
		}
	}
	return true
}

// Follow conditions a process on observed values with what some of the studies expect as
// the mean, and returns the weights of all. The process is as sure as the studies are
// right: there are too few observations to say much against them. Without any study to
// follow it is the plain condition.
func (t *Trend) Follow(process *Process, points [][]uint16, y []float64, followed []int) []float64 {
	process.Condition(y)
	if len(followed) == 0 {
		return nil
	}
	expected := t.expect(points)
	columns := collect.Each(followed, func(e int) []float64 { return expected[e] })
	weights := make([]float64, len(expected))
	for i, weight := range t.weigh(columns, y, process.factor) {
		weights[followed[i]] = weight
	}
	process.Condition(floats.SubTo(make([]float64, len(y)), y, combined(expected, weights, len(y))))
	// A study that explains every observation leaves no variance, and nothing to look for.
	process.variance = max(process.variance, followedVariance)
	return weights
}

// followedVariance is a deviation of a tenth of the way from the median to the best.
const followedVariance = 0.01
