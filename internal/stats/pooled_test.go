package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPooledRatios(t *testing.T) {
	// By hand, in logarithms to base 2: groups {0, 2} and {-1, 0, 1}, means 1 and 0, squares 2 + 2 = 4 with 3 degrees of
	// freedom, t(.975, 3) = 3.1824: half widths 3.1824·√(4/3/2) = 2.5984 and 3.1824·√(4/3/3) = 2.1216.
	means, intervals := PooledRatios([][]float64{{1, 4}, {0.5, 1, 2}}, 0.95)
	for i, want := range []struct{ mean, half float64 }{{1, 2.5984}, {0, 2.1216}} {
		low, high := math.Log2(intervals[i].Low), math.Log2(intervals[i].High)
		if math.Abs(math.Log2(means[i])-want.mean) > 1e-9 || math.Abs(low-want.mean+want.half) > 1e-3 ||
			math.Abs(high-want.mean-want.half) > 1e-3 {
			t.Errorf("group %d: %g from %g to %g", i, math.Log2(means[i]), low, high)
		}
	}
	_, intervals = PooledRatios([][]float64{{1, 2}, {3}, nil}, 0.95)
	if intervals[0].Bounded() || intervals[2].Bounded() {
		t.Errorf("%v of one degree of freedom", intervals)
	}
	// The intervals of small groups cover what they say: five groups of two, 5 % of noise.
	random := rand.New(rand.NewPCG(1, 2))
	const runs = 2000
	covered := 0
	for range runs {
		groups := make([][]float64, 5)
		for i := range groups {
			for range 2 {
				groups[i] = append(groups[i], 1.3*math.Exp(0.05*random.NormFloat64()))
			}
		}
		if _, intervals := PooledRatios(groups, 0.95); intervals[0].Contains(1.3) {
			covered++
		}
	}
	if share := float64(covered) / runs; share < 0.93 || share > 0.97 { // 4 standard errors
		t.Errorf("covered in %.3f", share)
	}
}
