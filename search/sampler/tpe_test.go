package sampler

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pawl/search/sampler/gaussian"
	"pawl/space"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestKernelFactorsByHand(t *testing.T) {
	// Unordered, one observation: its value has 1 + ½, the others ½ of a sum of
	// 2½, times three.
	nominal := Defaults().TPE.kernelFactors(gaussian.Axis{Coordinates: []float64{0, 0.5, 1}}, 1, 2)
	for i, want := range []float64{0.6, 1.8, 0.6} {
		near(t, "the nominal factor", nominal[1][i], want, 1e-12)
	}
	// Ordered, one observation: half of that, and half a Gaussian of width ¼. From
	// value 0 of three at 0, ½, 1 that is 1, e^-2 = 0.135335, e^-8 = 0.000335, sum
	// 1.135671; times three over the sum.
	ordered := Defaults().TPE.kernelFactors(gaussian.Axis{Ordered: true, Coordinates: []float64{0, 0.5, 1}}, 1, 2)
	for i, want := range []float64{(1.8 + 2.641611) / 2, (0.6 + 0.357503) / 2, (0.6 + 0.000886) / 2} {
		near(t, "the ordered factor", ordered[0][i], want, 1e-6)
	}
	// Eight observations on two axes, five values: the width shrinks by 8^(-1/6) to
	// 0.176777, so that a quarter of the range is z² = 2: e^-1 = 0.367879, e^-4 =
	// 0.018316, e^-9 = 0.000123, sum 1.386318. The others of the nominal half have
	// 1/9 of a sum of 14/9.
	shrunk := Defaults().TPE.kernelFactors(gaussian.Axis{Ordered: true, Coordinates: []float64{0, 0.25, 0.5, 0.75, 1}},
		8, 2)
	near(t, "the shrunk factor", shrunk[0][1], 5*(1.0/14+0.367879/1.386318)/2, 1e-5)
}

func TestParzenByHand(t *testing.T) {
	pool := poolOf(t, ordered("A", 0, 1, 2),
		space.Param{Name: "B", Values: integers(0, 1), Default: space.IntegerValue(0)})
	sampler := &tpeSampler{newCommon(pool.Space(), Defaults())}
	index := func(a, b uint16) int {
		i, ok := pool.Find(space.Row{a, b})
		if !ok {
			t.Fatal("not in the pool")
		}
		return i
	}
	// One observation at A=0, B=1. Factors of A as in the test above; of B 1½ and
	// ½ of a sum of 2, times two. The density is the mean of the product and the
	// prior 1.
	density := sampler.parzen(pool, []int{index(0, 1)})
	near(t, "the density at the observation", density.at(index(0, 1)), (2.220806*1.5+1)/2, 1e-6)
	near(t, "the density far away", density.at(index(2, 0)), (0.300443*0.5+1)/2, 1e-6)
	// Relative to the uniform density, the mean over all points is 1.
	sum := 0.0
	for i := range pool.Len() {
		sum += density.at(i) / float64(pool.Len())
	}
	near(t, "the mean density", sum, 1, 1e-12)
}

func TestSplitCountsFailuresAsBad(t *testing.T) {
	pool := poolOf(t, ordered("A", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10))
	view := NewView(pool)
	for i := range 11 {
		view.Ask(i)
		view.Observe(Observation{Index: i, Milliseconds: float64(20 - i), Failed: i >= 9})
	}
	// A tenth of eleven, rounded up, is two: 8 and 7, because 9 failed.
	good, bad := (&tpeSampler{newCommon(pool.Space(), Defaults())}).split(view)
	if !slices.Equal(good, []int{8, 7}) || !slices.Equal(bad, []int{6, 5, 4, 3, 2, 1, 0, 9, 10}) {
		t.Errorf("good %v, bad %v", good, bad)
	}
}

func TestWeightedDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	first := 0.0
	const draws = 20_000
	for range draws {
		drawn := drawWeighted([]float64{1, 3, 4}, 2, rng)
		if len(drawn) != 2 || drawn[0] == drawn[1] {
			t.Fatalf("drew %v", drawn)
		}
		if drawn[0] == 1 {
			first++
		}
	}
	// 3 of 8; the standard error of 20,000 draws is 0.0034.
	near(t, "the share of the second", first/draws, 3.0/8, 0.0135)
	if all := drawWeighted([]float64{1, 2}, 5, rng); len(all) != 2 {
		t.Errorf("drew %v of two", all)
	}
}
