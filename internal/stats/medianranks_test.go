package stats

import (
	"math"
	"slices"
	"testing"
)

// TestMedianRanksLaw compares the tables with an enumeration of all n^n resamples.
func TestMedianRanksLaw(t *testing.T) {
	for n := 1; n <= 7; n++ {
		want := enumerateMiddleRanks(n)
		got := tabulatedMiddleRanks(newMedianRanks(n))
		for pair, probability := range want {
			if difference := math.Abs(got[pair] - probability); difference > 1e-12 {
				t.Errorf("n = %d: middle ranks %v have probability %v, want %v", n, pair, got[pair], probability)
			}
		}
	}
}

// enumerateMiddleRanks returns the probability of each pair of middle ranks, which
// are equal for an odd n.
func enumerateMiddleRanks(n int) map[[2]int]float64 {
	law := map[[2]int]float64{}
	total := int(math.Pow(float64(n), float64(n)))
	ranks := make([]int, n)
	for code := range total {
		for i, rest := 0, code; i < n; i, rest = i+1, rest/n {
			ranks[i] = rest % n
		}
		slices.Sort(ranks)
		law[[2]int{ranks[(n-1)/2], ranks[n/2]}] += 1 / float64(total)
	}
	return law
}

// tabulatedMiddleRanks returns the law that draw follows.
func tabulatedMiddleRanks(r *medianRanks) map[[2]int]float64 {
	n := len(r.keep)
	lower := make([]float64, n)
	for column, keep := range r.keep {
		share := math.Ldexp(float64(keep), -64)
		lower[column] += share / float64(n)
		lower[r.alias[column]] += (1 - share) / float64(n)
	}
	law := map[[2]int]float64{}
	for i, probability := range lower {
		if r.above == nil {
			law[[2]int{i, i}] = probability
			continue
		}
		survival := r.above[i]
		law[[2]int{i, i}] = probability * (1 - survival)
		for j := i + 1; j < n; j++ {
			law[[2]int{i, j}] = probability * survival * (1 - r.over[j])
			survival *= r.over[j]
		}
	}
	return law
}

// TestMedianRanksLarge checks that nothing under- or overflows: the median rank of n
// uniform ranks has mean (n-1)/2 and, for large n, standard deviation √n/2.
func TestMedianRanksLarge(t *testing.T) {
	for _, n := range []int{999, 1000, 20000} {
		ranks, random := newMedianRanks(n), Bootstrap{}.withDefaults().source()
		ascending := make([]float64, n)
		for i := range ascending {
			ascending[i] = float64(i)
		}
		draws := make([]float64, 20000)
		for i := range draws {
			draws[i] = ranks.draw(ascending, random)
		}
		mean, squares := meanAndSquares(draws)
		deviation := math.Sqrt(squares / float64(len(draws)))
		want := math.Sqrt(float64(n)) / 2
		// Four standard errors of 20000 draws, and 1 % for the asymptotics.
		near(t, "mean rank", mean, float64(n-1)/2, 4*want/math.Sqrt(20000))
		near(t, "deviation of rank", deviation, want, 0.03*want)
	}
}
