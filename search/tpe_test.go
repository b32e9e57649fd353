package search

import (
	"math"
	"slices"
	"testing"

	"pawl/space"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestKernelFactorsByHand(t *testing.T) {
	// One observation: the width is 0.5. From value 0 of three at 0, ½, 1 the
	// Gaussian is 1, e^-½ = 0.606531, e^-2 = 0.135335, sum 1.741866; times
	// three over the sum, and a fifth of it replaced by 1.
	gaussian := kernelFactors(axis{ordered: true, coordinates: []float64{0, 0.5, 1}}, 1, 2)
	for i, want := range []float64{1.722291, 1.044622, 0.233086} {
		near(t, "the Gaussian factor", gaussian[0][i], 0.8*want+0.2, 1e-6)
	}
	// Unordered, one observation: 1, ½, ½ of a sum of 2, times three.
	nominal := kernelFactors(axis{coordinates: []float64{0, 0.5, 1}}, 1, 2)
	for i, want := range []float64{0.75, 1.5, 0.75} {
		near(t, "the nominal factor", nominal[1][i], want, 1e-12)
	}
	// Eight observations on two axes: everything shrinks by 8^(-1/6) = 0.707107.
	// The Gaussian's width is 0.353553, so that half the range is z² = 2:
	// e^-1 = 0.367879 and e^-4 = 0.018316, sum 1.386195.
	shrunk := kernelFactors(axis{ordered: true, coordinates: []float64{0, 0.5, 1}}, 8, 2)
	near(t, "the shrunk factor", shrunk[0][1], 0.8*3*0.367879/1.386195+0.2, 1e-5)
}

func TestParzenByHand(t *testing.T) {
	pool := poolOf(t, ordered("A", 0, 1, 2), space.Param{Name: "B", Values: integers(0, 1), Default: space.IntegerValue(0)})
	axes := axesOf(pool.Space())
	index := func(a, b uint16) int {
		i, ok := pool.Find(space.Row{a, b})
		if !ok {
			t.Fatal("not in the pool")
		}
		return i
	}
	// One observation at A=0, B=1. Factors of A as in the test above; of B, with
	// one other value of weight ½: 2·1/1.5 and 2·0.5/1.5. The density is the
	// mean of the product and the prior 1.
	density := newParzen(pool, axes, []int{index(0, 1)})
	near(t, "the density at the observation", density.at(index(0, 1)), ((0.8*1.722291+0.2)*4/3+1)/2, 1e-6)
	near(t, "the density far away", density.at(index(2, 0)), ((0.8*0.233086+0.2)*2/3+1)/2, 1e-6)
	// Relative to the uniform density, the mean over all points is 1.
	sum := 0.0
	for i := range pool.Len() {
		sum += density.at(i) / float64(pool.Len())
	}
	near(t, "the mean density", sum, 1, 1e-12)
}

func TestSplitCountsFailuresAsBad(t *testing.T) {
	pool := poolOf(t, ordered("A", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9))
	view := NewView(pool)
	for i := range 10 {
		view.Ask(i)
		view.Tell(Observation{Index: i, Milliseconds: float64(10 - i), Failed: i == 9})
	}
	// Half the root of ten, rounded up, is two: 8 and 7, because 9 failed.
	good, bad := split(view)
	if !slices.Equal(good, []int{8, 7}) || !slices.Equal(bad, []int{6, 5, 4, 3, 2, 1, 0, 9}) {
		t.Errorf("good %v, bad %v", good, bad)
	}
}
