package simulate

import "math"

// communityBaseline is what the autotuning community's methodology (Willemsen
// et al. 2024) expects random search to have found after a number of
// evaluations: the time at the expected rank of the best of so many draws.
func (r *Recorded) communityBaseline(evaluations int) float64 {
	n := len(r.slowToFast)
	m := float64(evaluations)
	rank := int(math.Round(m * float64(n+1) / (m + 1)))
	return r.slowToFast[min(n-1, rank)]
}

// communityCutoff is how far from the median to the optimum random search must
// have come when the methodology's budget ends.
const communityCutoff = 0.95

// communityBudget is the number of evaluations that the methodology gives a
// search: the first after which the baseline has reached the cutoff.
func (r *Recorded) communityBudget() int {
	n := len(r.slowToFast)
	median, optimum := r.median(), r.optimum()
	target := median - communityCutoff*(median-optimum)
	i := 0
	for r.slowToFast[i] > target {
		i++
	}
	return max(1, int(math.Ceil(float64(i)/float64(n+1-i))))
}

// communityScore is the methodology's score of a mean curve of best times:
// 0 is random search and 1 the optimum at once, averaged over the budget or as
// much of it as was run. A search that has found nothing yet stands at the
// slowest time.
func (r *Recorded) communityScore(meanBest []float64) float64 {
	sum, count := 0.0, 0
	for m := 1; m <= min(r.communityBudget(), len(meanBest)); m++ {
		baseline := r.communityBaseline(m)
		if baseline == r.optimum() {
			break // nothing is left to win
		}
		sum += (baseline - meanBest[m-1]) / (baseline - r.optimum())
		count++
	}
	if count == 0 {
		return 0
	}
	return sum / float64(count)
}

// expectedFractions returns the exact expectation of the fraction of the
// optimum that uniform random search without repetition has reached after each
// number of evaluations up to a limit.
//
// With P points of which the w-th fastest is drawn among the first m with all
// faster ones absent, the best has rank w with probability
// C(P−w, m−1) / C(P, m). That is m/P for w = 1, and the next follows from the
// last by the factor (P−w−m+1) / (P−w). Points that fail rank last with a
// fraction of 0.
func (r *Recorded) expectedFractions(limit int) []float64 {
	points := r.space.Pool().Len()
	n := len(r.slowToFast)
	expected := make([]float64, limit)
	for m := 1; m <= limit; m++ {
		if m >= points {
			expected[m-1] = 1
			continue
		}
		probability := float64(m) / float64(points)
		for rank := 1; rank <= n && probability > 0; rank++ {
			expected[m-1] += probability * r.optimum() / r.slowToFast[n-rank]
			probability *= float64(points-rank-m+1) / float64(points-rank)
			if points-rank-m+1 <= 0 {
				break
			}
		}
	}
	return expected
}
