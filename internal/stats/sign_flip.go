package stats

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"pawl/internal/collect"
)

// SignFlip returns the exact two-sided p-value of Fisher's randomisation test for
// pairs (1935): of the hypothesis that the sign of each difference is the toss of
// a coin, as it is when both sides of a pair are the same thing and their order was
// drawn for each pair by itself. Nothing else is assumed, not even that the pairs
// are alike, so a heavy tail, two modes, a slow hour or a disturbance with a rhythm
// cannot make it lie. Orders that depend on each other, such as mirrored ones, can.
//
// The statistic is the sum of the differences, where sizes above three times their
// median count as that: one wild pair does not decide. On normal differences it
// finds as much as Student's test; where processes have one of two levels it finds
// far more than ranks do, which know only which difference is larger.
//
// Differences of zero are left out, and where every difference is zero it is 1. The
// smallest value that n differences can reach is 2/2^n: 10 are needed for 0.002.
func SignFlip(differences []float64) float64 {
	require("SignFlip", differences)
	different := collect.Where(differences, func(d float64) bool { return d != 0 })
	if len(different) == 0 {
		return 1
	}
	sizes := flipScores(collect.Each(different, math.Abs))
	total, sum := 0, 0
	for i, d := range different {
		total += sizes[i]
		if d > 0 {
			sum += sizes[i]
		}
	}
	return min(1, 2*signTail(sizes, min(sum, total-sum)))
}

// flipScores turns sizes of differences into whole numbers, so that the sums over all signs can
// be counted. Any function of the sizes alone leaves the test exact; a sixtieth of the largest
// score is finer than the noise of any timing.
func flipScores(sizes []float64) []int {
	const most, medians = 60, 3
	limit := medians * Median(sizes)
	return collect.Each(sizes, func(size float64) int { return max(1, int(math.Round(most*min(1, size/limit)))) })
}

// signTail returns the share of all sign patterns whose sum of positive scores is at most limit.
func signTail(scores []int, limit int) float64 {
	shares := make([]float64, limit+1)
	shares[0] = 1
	reached := 0 // the largest sum so far
	for _, score := range scores {
		reached = min(limit, reached+score)
		for sum := reached; sum >= 0; sum-- {
			shares[sum] /= 2
			if sum >= score {
				shares[sum] += shares[sum-score] / 2
			}
		}
	}
	return floats.Sum(shares)
}
