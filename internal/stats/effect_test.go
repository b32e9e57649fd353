package stats

import (
	"math"
	"testing"
)

// atEarlyGestation is the second sample of Hollander and Wolfe's table 4.1; the
// first is permeability.
var atEarlyGestation = []float64{1.15, 0.88, 0.90, 0.74, 1.21}

var (
	timesA = []float64{19.8, 22.1, 20.4, 21.7, 20.9, 23.3}
	timesB = []float64{18.2, 19.1, 20.1, 17.7, 21.0}
)

func TestCliffsDelta(t *testing.T) {
	for _, test := range []struct {
		name string
		x, y []float64
		want float64
	}{
		// Counted over all pairs in Python.
		{"times", timesA, timesB, 0.7333333333333333},
		{"permeability", permeability, atEarlyGestation, 0.4},
		// By hand.
		{"all above", []float64{5, 6}, []float64{1, 2, 3}, 1},
		{"all below", []float64{1, 2, 3}, []float64{5, 6}, -1},
		{"all tied", []float64{1, 1}, []float64{1, 1, 1}, 0},
		{"ties count for neither", []float64{1, 2}, []float64{2, 3}, -0.75},
	} {
		near(t, test.name, CliffsDelta(test.x, test.y), test.want, 1e-15)
	}
}

// TestCliffsDeltaProperties checks random samples with many ties against the
// definition, the antisymmetry, and the identity with Mann-Whitney's U.
func TestCliffsDeltaProperties(t *testing.T) {
	random := testSource(37)
	draw := func() []float64 {
		samples := make([]float64, 1+random.IntN(20))
		for i := range samples {
			samples[i] = math.Round(6 * random.Float64())
		}
		return samples
	}
	for range 300 {
		x, y := draw(), draw()
		balance := 0.0
		for _, a := range x {
			for _, b := range y {
				if a > b {
					balance++
				} else if a < b {
					balance--
				}
			}
		}
		pairs := float64(len(x) * len(y))
		delta := CliffsDelta(x, y)
		near(t, "delta", delta, balance/pairs, 1e-12)
		near(t, "delta exchanged", CliffsDelta(y, x), -delta, 1e-12)
		u, p := MannWhitney(x, y)
		near(t, "2U/(nm)-1", 2*u/pairs-1, delta, 1e-12)
		if _, exchanged := MannWhitney(y, x); !(p >= 0 && p <= 1) || math.Abs(p-exchanged) > 1e-12 {
			t.Fatalf("MannWhitney(%v, %v) has p %v, exchanged %v", x, y, p, exchanged)
		}
	}
}

func TestMagnitude(t *testing.T) {
	for _, test := range []struct {
		delta float64
		want  string
	}{
		// Bounds of Romano et al. (2006).
		{0, "negligible"}, {0.146, "negligible"},
		{0.147, "small"}, {-0.32, "small"},
		{0.33, "medium"}, {-0.473, "medium"},
		{0.474, "large"}, {-1, "large"}, {1, "large"},
	} {
		if got := Magnitude(test.delta); got != test.want {
			t.Errorf("Magnitude(%v) = %s, want %s", test.delta, got, test.want)
		}
	}
	panics(t, "Magnitude(1.5)", func() { Magnitude(1.5) })
	panics(t, "Magnitude(NaN)", func() { Magnitude(math.NaN()) })
}
