package objective

import (
	"math/rand/v2"
	"testing"
)

// A kernel that remembers is told from a machine that is busy: times of 0.4 ms that
// other programs make longer by up to a half, or by twenty times in every fifth, and
// samples of many launches that they make longer more often.
func TestNewInputsAreHeldAgainstNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	busy := func(milliseconds float64) float64 {
		milliseconds *= 1 + rng.Float64()/2
		if rng.IntN(5) == 0 {
			milliseconds *= 20
		}
		return milliseconds
	}
	for name, test := range map[string]struct {
		first, again, seen float64 // without noise
		want               bool
	}{
		"honest":                        {0.4, 0.4, 0.4, false},
		"bound by memory":               {0.6, 0.6, 0.35, false}, // a single launch finds cold caches
		"remembers":                     {0.4, 0.02, 0.02, true},
		"remembers three quarters":      {0.4, 0.11, 0.11, true},
		"works only when launched once": {0.4, 0.4, 0.02, true},
		"short and honest":              {0.002, 0.002, 0.0015, false},
		"short and remembers":           {0.01, 0.001, 0.001, true},
	} {
		wrong := 0
		for range 1000 {
			var first, again, seen []float64
			for range unseenTries {
				first, again = append(first, busy(test.first)), append(again, busy(test.again))
				seen = append(seen, test.seen*(1+rng.Float64()))
			}
			if suspicious(first, again, seen) != test.want {
				wrong++
			}
		}
		if wrong > 5 { // no rule is sure on such a machine
			t.Errorf("%s: wrong in %d of 1000", name, wrong)
		}
	}
}

// Most launches on new inputs were disturbed, and some were not.
func TestSomeQuickLaunchesOnNewInputsAreEnough(t *testing.T) {
	first := []float64{0.9, 0.8, 0.11, 0.7, 0.9, 0.6, 0.12, 0.8, 0.9}
	again := []float64{0.1, 0.12, 0.11, 0.1, 0.5, 0.1, 0.12, 0.11, 0.1}
	seen := []float64{0.11, 0.12, 0.11, 0.13, 0.11, 0.12, 0.11, 0.13, 0.11}
	if suspicious(first, again, seen) {
		t.Error("a launch on new inputs was as quick as on others")
	}
	for i := range first {
		first[i] = max(first[i], 0.6)
	}
	if !suspicious(first, again, seen) {
		t.Error("every launch on new inputs took five times as long")
	}
}
