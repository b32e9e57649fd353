package stats

import (
	"math"
	"slices"
)

// SignedRank returns the exact two-sided p-value of Wilcoxon's signed-rank test
// (1945): of the hypothesis that the differences are symmetric about zero, as
// those of paired rounds are when both sides are the same thing measured in random
// order. Nothing else is assumed, not even that the rounds are alike, so a heavy
// tail, two modes or a slow hour cannot make it lie.
//
// Differences of zero are left out, as Wilcoxon did; tied sizes share the mean of
// their ranks and the distribution over all signs is that of the shared ranks, so
// ties cost no exactness. Where every difference is zero it is 1. The smallest
// value that n differences can reach is 2/2^n: 10 are needed for 0.002.
func SignedRank(differences []float64) float64 {
	require("SignedRank", differences)
	var kept []float64
	for _, d := range differences {
		if d != 0 {
			kept = append(kept, d)
		}
	}
	if len(kept) == 0 {
		return 1
	}
	doubled := doubledRanks(kept)
	total, positive := 0, 0
	for i, rank := range doubled {
		total += rank
		if kept[i] > 0 {
			positive += rank
		}
	}
	return min(1, 2*signTail(doubled, min(positive, total-positive)))
}

// doubledRanks returns twice the rank of each value's size, so that the mean of
// two neighbouring ranks is whole.
func doubledRanks(values []float64) []int {
	sizes := make([]float64, len(values))
	for i, value := range values {
		sizes[i] = math.Abs(value)
	}
	ascending := slices.Sorted(slices.Values(sizes))
	ranks := make([]int, len(values))
	for i, size := range sizes {
		first, _ := slices.BinarySearch(ascending, size)
		next := first
		for next < len(ascending) && ascending[next] == size {
			next++
		}
		ranks[i] = first + 1 + next // twice the mean of the ranks first+1 to next
	}
	return ranks
}

// signTail returns the share of all sign patterns whose sum of positive ranks is at
// most limit.
func signTail(ranks []int, limit int) float64 {
	shares := make([]float64, limit+1)
	shares[0] = 1
	for _, rank := range ranks {
		for sum := limit; sum >= 0; sum-- {
			shares[sum] /= 2
			if sum >= rank {
				shares[sum] += shares[sum-rank] / 2
			}
		}
	}
	tail := 0.0
	for _, share := range shares {
		tail += share
	}
	return tail
}
