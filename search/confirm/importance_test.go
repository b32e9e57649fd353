package confirm

import (
	"math"
	"testing"
)

func TestEpsilonSquared(t *testing.T) {
	// By hand: groups {1,3} and {5,7}, grand mean 4, SSB = 2*4+2*4 = 16,
	// SSW = 2+2 = 4, SST = 20, MSW = 4/2 = 2, (16 - 1*2)/20 = 0.7.
	for _, test := range []struct {
		groups [][]float64
		want   float64
	}{
		{[][]float64{{1, 3}, {5, 7}}, 0.7},
		{[][]float64{{1, 3}, {1, 3}}, 0}, // SSB 0: the correction would be negative
		{[][]float64{{1, 1}, {2, 2}}, 1},
		{[][]float64{{1, 3}, {}}, 0},
		{[][]float64{{2}, {2}}, 0},
	} {
		if got := epsilonSquared(test.groups); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%v: got %v, want %v", test.groups, got, test.want)
		}
	}
}
