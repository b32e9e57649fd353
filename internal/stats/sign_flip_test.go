package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pawl/internal/stats"
)

// The p-values follow from counting sign patterns by hand: p = 2·#(patterns whose
// lesser sum is no larger)/2^n.
func TestSignFlipKnown(t *testing.T) {
	for name, c := range map[string]struct {
		differences []float64
		want        float64
	}{
		"all of 5 positive":  {[]float64{1, 2, 3, 4, 5}, 2.0 / 32},
		"all of 10 negative": {[]float64{-1, -2, -3, -4, -5, -6, -7, -8, -9, -10}, 2.0 / 1024},
		// Equal sizes make it the sign test: none or one of five, 1+5 patterns.
		"one of five equal": {[]float64{1, 1, 1, 1, -1}, 2 * 6.0 / 32},
		// Negative sum 0.5 with sizes 0.5, 1, 1, 1.5, 2: patterns {} and {0.5}.
		"the smallest is negative": {[]float64{-0.5, 1, 1, 1.5, 2}, 2 * 2.0 / 32},
		// Negative sum 1: {}, {0.5}, {1}, {1}.
		"a middle one is negative": {[]float64{0.5, -1, 1, 1.5, 2}, 2 * 4.0 / 32},
		// 900 counts as 3, three times the median: {} to {3} is {}, {0.5}, {1}, {1},
		// {1.5}, {3}, and the sums up to 3 of two and three small ones: 0.5+1 twice,
		// 0.5+1.5, 1+1, 1+1.5 twice, 0.5+1+1, 0.5+1+1.5 twice. The others reach more.
		"a wild one is bounded": {[]float64{0.5, 1, 1, 1.5, -900}, 2 * 15.0 / 32},
		"zeros are left out":    {[]float64{1, 2, 3, 4, 5, 0, 0, 0}, 2.0 / 32},
		"nothing but zeros":     {[]float64{0, 0}, 1},
		"one difference":        {[]float64{3}, 1},
	} {
		if got := stats.SignFlip(c.differences); math.Abs(got-min(1, c.want)) > 1e-12 {
			t.Errorf("%s: got %v of 32, want %v", name, got*32, c.want*32)
		}
	}
}

// Two-sided means that the sides do not matter.
func TestSignFlipIsSymmetric(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		differences, mirrored := make([]float64, 12), make([]float64, 12)
		for i := range differences {
			differences[i] = math.Round(4*random.NormFloat64()) + 1
			mirrored[i] = -differences[i]
		}
		if a, b := stats.SignFlip(differences), stats.SignFlip(mirrored); a != b {
			t.Fatalf("%v and %v for %v", a, b, differences)
		}
	}
}

// The error rate is the level, or less where the p-values are discrete, on
// symmetric noise with the heaviest tails, and on one whose sizes have a rhythm.
func TestSignFlipKeepsItsLevel(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for name, draw := range map[string]func(i int) float64{
		"Cauchy": func(int) float64 { return random.NormFloat64() / random.NormFloat64() },
		"a rhythm": func(i int) float64 {
			return float64(1+5*(i%3)) * (2*float64(random.IntN(2)) - 1) * (1 + random.Float64())
		},
	} {
		const repeats, level = 4000, 0.05
		alarms := 0
		for range repeats {
			differences := make([]float64, 20)
			for i := range differences {
				differences[i] = draw(i)
			}
			if stats.SignFlip(differences) <= level {
				alarms++
			}
		}
		// Four standard deviations of the binomial count about 200.
		if alarms < 145 || alarms > 255 {
			t.Errorf("%s: %d alarms in %d", name, alarms, repeats)
		}
	}
}

// Where processes have one of two levels, ranks lose what sums keep: how many times
// 80 rounds of processes with two levels prove a shift of 10 %. The gate with
// Wilcoxon's signed ranks found a third of these.
func TestSignFlipOnTwoLevels(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const repeats = 500
	found := 0
	for range repeats {
		differences := make([]float64, 80)
		for i := range differences {
			differences[i] = 0.0953 + 0.223*float64(random.IntN(2)-random.IntN(2)) + 0.01*random.NormFloat64()
		}
		if stats.SignFlip(differences) <= 0.00067 {
			found++
		}
	}
	if found < 450 {
		t.Errorf("found %d of %d", found, repeats)
	}
}
