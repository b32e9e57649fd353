package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pawl/internal/stats"
)

// signed returns n differences of sizes 1 to n whose negative ones are named.
func signed(n int, negative ...int) []float64 {
	differences := make([]float64, n)
	for i := range differences {
		differences[i] = float64(i + 1)
	}
	for _, size := range negative {
		differences[size-1] = -float64(size)
	}
	return differences
}

// The p-values follow from counting sign patterns: with T the lesser rank sum,
// p = 2·#(sums <= T)/2^n. The counts of subsets of 1..n with sum at most T are
// those of distinct partitions: 1 up to T = 0, 5 up to 3, 25 up to 8. The critical
// values of Wilcoxon's table agree: T = 8 at n = 10 and T = 3 at n = 8 are its
// limits for p = 0.05.
func TestSignedRankKnown(t *testing.T) {
	for name, c := range map[string]struct {
		differences []float64
		want        float64
	}{
		"all of 5 positive":  {signed(5), 2.0 / 32},
		"all of 10 positive": {signed(10), 2.0 / 1024},
		"T 3 of 8":           {signed(8, 3), 2 * 5.0 / 256},
		"T 8 of 10":          {signed(10, 8), 2 * 25.0 / 1024},
		"T 8 in two":         {signed(10, 1, 7), 2 * 25.0 / 1024},
		"zeros are left out": {append(signed(5), 0, 0, 0), 2.0 / 32},
		"nothing but zeros":  {[]float64{0, 0}, 1},
		"one difference":     {[]float64{3}, 1},
		// Three ties share rank 2 each: sums 0, 2, 4, 6 with 1, 3, 3, 1 patterns.
		"ties": {[]float64{1, 1, -1}, 1},
	} {
		if got := stats.SignedRank(c.differences); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// Two-sided means that the sides do not matter.
func TestSignedRankIsSymmetric(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		differences, mirrored := make([]float64, 12), make([]float64, 12)
		for i := range differences {
			differences[i] = math.Round(4*random.NormFloat64()) + 1
			mirrored[i] = -differences[i]
		}
		if a, b := stats.SignedRank(differences), stats.SignedRank(mirrored); a != b {
			t.Fatalf("%v and %v for %v", a, b, differences)
		}
	}
}

// On symmetric noise with the heaviest tails the error rate is the level, or less
// where the p-values are discrete.
func TestSignedRankKeepsItsLevel(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const repeats, level = 4000, 0.05
	alarms := 0
	for range repeats {
		differences := make([]float64, 20)
		for i := range differences {
			differences[i] = random.NormFloat64() / random.NormFloat64() // Cauchy
		}
		if stats.SignedRank(differences) <= level {
			alarms++
		}
	}
	// Four standard deviations of the binomial count about 200.
	if alarms < 145 || alarms > 255 {
		t.Errorf("%d alarms in %d", alarms, repeats)
	}
}
