package stats_test

import (
	"math"
	"testing"

	"pawl/internal/stats"
)

// The expected ends are those of Newcombe (1998), table I, method 3, for 95 %.
func TestProportionKnown(t *testing.T) {
	for _, c := range []struct {
		successes, n int
		low, high    float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{29, 29, 1 - 0.1170, 1},
	} {
		got := stats.Proportion(c.successes, c.n, 0.95)
		if math.Abs(got.Low-c.low) > 5e-5 || math.Abs(got.High-c.high) > 5e-5 {
			t.Errorf("%d of %d: %v, want %v to %v", c.successes, c.n, got, c.low, c.high)
		}
	}
}
