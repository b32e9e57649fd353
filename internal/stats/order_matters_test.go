package stats

import (
	"math/rand/v2"
	"testing"
)

func TestOrderMatters(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		least  float64
		most   float64
	}{
		"two values":     {[]float64{1, 2}, 1, 1},
		"all equal":      {[]float64{1, 1, 1, 1}, 1, 1},
		"a step":         {[]float64{1, 1.01, 0.99, 1, 1.3, 1.31, 1.29, 1.3, 1.32, 1.3}, 0, 0.02},
		"three of six":   {[]float64{1, 1, 1, 2, 2, 2}, 0.08, 0.12}, // 2 of 20 arrangements
		"a slope":        {[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0, 0.01},
		"modes in turn":  {[]float64{1, 1.25, 1, 1.25, 1, 1.25, 1, 1.25, 1, 1.25}, 0.5, 1},
		"one stray, mid": {[]float64{1, 1.01, 0.99, 5, 1.02, 0.98, 1.03, 0.97}, 0.3, 1},
	} {
		if p := OrderMatters(c.values); p < c.least || p > c.most {
			t.Errorf("%s: p %v", name, p)
		}
	}
	// Under random order p is at most 0.05 in about 5 % of series, whatever the values.
	random, small := rand.New(rand.NewPCG(3, 4)), 0
	for range 400 {
		values := make([]float64, 12)
		for i := range values {
			values[i] = float64(1 + random.IntN(2))
		}
		if p := OrderMatters(values); p <= 0.05 {
			small++
		}
	}
	if small > 34 {
		t.Errorf("%d of 400 random orders matter at 0.05", small)
	}
}
