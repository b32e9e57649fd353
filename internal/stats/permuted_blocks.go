package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// An Assignment is an order that a round could have had, and the difference that the same
// processes would then have shown: which of them belongs to which side follows from the order.
type Assignment struct {
	// Order numbers the orders of a block from 0.
	Order int
	// Difference is that of the two sides, usually of logarithms.
	Difference float64
}

// PermutedBlocks returns the two-sided p-value of Fisher's randomisation test (1935) of the
// hypothesis that both sides are the same thing, for rounds whose orders come from permuted
// blocks ([Orders]): in a block no order comes twice. Under the hypothesis each process
// would have taken the same time under another name, so what was seen is compared with what
// every other draw of the orders would have shown. Nothing is assumed about the noise: a
// heavy tail, two modes, a slow hour, a trend inside a round or a rhythm cannot make it lie.
//
// Each round lists the assignments that it could have had, the real one first; a block is
// so many rounds, and the last may be incomplete.
//
// The statistic is the sum of the differences, each cut at a limit: a low one counts how
// many rounds agree, which finds a small difference between processes of two levels, and a
// high one also by how much, which finds more in normal noise. With several limits the
// smallest p-value counts, times their number (Bonferroni). Limits must not depend on which
// side is which. A limit of 0 leaves the signs.
func PermutedBlocks(rounds [][]Assignment, block int, limits ...float64) float64 {
	if len(rounds) == 0 || len(limits) == 0 {
		panic("stats: PermutedBlocks of no rounds, or without a limit")
	}
	smallest := 1.0
	for _, limit := range limits {
		smallest = min(smallest, permutedTail(rounds, block, limit))
	}
	return min(1, smallest*float64(len(limits)))
}

// permutedTail is the test with one limit. Differences become whole numbers so that sums can
// be counted; any function of them leaves the test exact.
func permutedTail(rounds [][]Assignment, block int, limit float64) float64 {
	const sums = 240
	most := max(6, sums/len(rounds)) // steps of a difference; more would be finer than any noise
	score := func(difference float64) int {
		share := difference / limit // NaN where both are 0
		if math.IsNaN(share) {
			return 0
		}
		return int(math.Round(float64(most) * max(-1, min(1, share))))
	}
	observed, distribution := 0, []float64{1}
	for first := 0; first < len(rounds); first += block {
		part := rounds[first:min(first+block, len(rounds))]
		for _, assignments := range part {
			observed += score(assignments[0].Difference)
		}
		distribution = convolve(distribution, blockSums(part, block, most, score))
	}
	// The sum 0 is in the middle.
	middle, tail, total := len(distribution)/2, 0.0, floats.Sum(distribution)
	for i, share := range distribution {
		if sum := i - middle; max(sum, -sum) >= max(observed, -observed) {
			tail += share
		}
	}
	return min(1, tail/total)
}

// blockSums returns how many draws of a block's orders have each sum of scores, from
// -most to most for each round. It goes through the rounds with, for each set of orders that
// may have been used so far, the counts of the sums.
func blockSums(rounds [][]Assignment, block, most int, score func(float64) int) []float64 {
	middle := most * len(rounds)
	used := make([][]float64, 1<<block)
	used[0] = make([]float64, 2*middle+1)
	used[0][middle] = 1
	for _, assignments := range rounds {
		next := make([][]float64, 1<<block)
		for set, counts := range used {
			if counts == nil {
				continue
			}
			for _, a := range assignments {
				if a.Order < 0 || a.Order >= block {
					panic(fmt.Sprintf("stats: PermutedBlocks of order %d in blocks of %d", a.Order, block))
				}
				order := 1 << a.Order
				if set&order != 0 {
					continue
				}
				if next[set|order] == nil {
					next[set|order] = make([]float64, len(counts))
				}
				addShifted(next[set|order], counts, score(a.Difference))
			}
		}
		used = next
	}
	sums := make([]float64, 2*middle+1)
	for _, counts := range used {
		addShifted(sums, counts, 0)
	}
	return sums
}

// addShifted adds counts to sum, each moved up by a number of places; what is moved beyond an end is zero.
func addShifted(sum, counts []float64, by int) {
	for i, count := range counts {
		if count > 0 {
			sum[i+by] += count
		}
	}
}

// convolve returns the distribution of the sum of two independent numbers, each counted from
// the middle, as shares of all that b counts.
func convolve(a, b []float64) []float64 {
	total := floats.Sum(b)
	sum := make([]float64, len(a)+len(b)-1)
	for j, count := range b {
		if count == 0 {
			continue
		}
		for i, share := range a {
			sum[i+j] += share * count / total
		}
	}
	return sum
}
