package stats

import (
	"math"

	"gonum.org/v1/gonum/floats"
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
	scores, positive := flipScores("SignFlip", differences)
	if len(scores) == 0 {
		return 1
	}
	total, sum := 0, 0
	for i, score := range scores {
		total += score
		if positive[i] {
			sum += score
		}
	}
	return min(1, 2*signTail(scores, min(sum, total-sum)))
}

// flipScores turns the sizes of the differences that are not zero into whole
// numbers, so that the sums over all signs can be counted, and says which are
// positive. Any function of the sizes alone leaves the test exact; a sixtieth of the
// largest score is finer than the noise of any timing.
func flipScores(operation string, differences []float64) (scores []int, positive []bool) {
	require(operation, differences)
	var sizes []float64
	for _, d := range differences {
		if d != 0 {
			sizes, positive = append(sizes, math.Abs(d)), append(positive, d > 0)
		}
	}
	if len(sizes) == 0 {
		return nil, nil
	}
	const most, medians = 60, 3
	limit := medians * Median(sizes)
	scores = make([]int, len(sizes))
	for i, size := range sizes {
		scores[i] = max(1, int(math.Round(most*min(1, size/limit))))
	}
	return scores, positive
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
