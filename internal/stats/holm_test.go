package stats

import (
	"slices"
	"testing"
)

// The steps of Holm's procedure, worked out by hand at a level of 0.06: 0.01 reaches 0.06/4, 0.015 reaches
// 0.06/3, 0.04 does not reach 0.06/2, and so 0.05 does not count, though it would reach 0.06/1.
func TestHolmLevels(t *testing.T) {
	chances := []float64{0.05, 0.01, 0.04, 0.015}
	if got := HolmLevels(chances, 0.06); !slices.Equal(got, []float64{0.03, 0.015, 0.03, 0.02}) {
		t.Errorf("got %v", got)
	}
	if got := HolmLevels([]float64{0.01}, 0.06); !slices.Equal(got, []float64{0.06}) {
		t.Errorf("one alone: %v", got)
	}
	if got := HolmLevels(nil, 0.06); len(got) != 0 {
		t.Errorf("none: %v", got)
	}
	// All equal: the first does not reach its share, or all do.
	if got := HolmLevels([]float64{0.02, 0.02, 0.02}, 0.06); !slices.Equal(got, []float64{0.02, 0.03, 0.06}) {
		t.Errorf("ties: %v", got)
	}
}
