package stats

import (
	"math"
	"testing"
)

func TestPairsNeeded(t *testing.T) {
	for _, test := range []struct {
		spread, effect, alpha, power float64
		want                         int
	}{
		// ((z(1-alpha)+z(power))·spread/effect)² with scipy 1.17.1 norm.ppf, whose
		// factors are 13.017, 6.183 and 10.507, rounded up.
		{0.01, 0.01, 0.01, 0.9, 14},
		{0.02, 0.005, 0.01, 0.9, 209},
		{1, 0.5, 0.05, 0.8, 25},
		{1, 1, 0.025, 0.9, 11},
		// No noise, or no wish to see anything: one pair.
		{0, 0.01, 0.01, 0.9, 1},
		{1, 0.01, 0.5, 0.5, 1},
		{1, 1e-300, 0.01, 0.9, math.MaxInt},
	} {
		if got := PairsNeeded(test.spread, test.effect, test.alpha, test.power); got != test.want {
			t.Errorf("PairsNeeded(%v, %v, %v, %v) = %d, want %d",
				test.spread, test.effect, test.alpha, test.power, got, test.want)
		}
	}
	for name, call := range map[string]func(){
		"no effect":       func() { PairsNeeded(1, 0, 0.05, 0.9) },
		"negative spread": func() { PairsNeeded(-1, 1, 0.05, 0.9) },
		"alpha 0":         func() { PairsNeeded(1, 1, 0, 0.9) },
		"power 1":         func() { PairsNeeded(1, 1, 0.05, 1) },
		"NaN":             func() { PairsNeeded(math.NaN(), 1, 0.05, 0.9) },
	} {
		panics(t, name, call)
	}
}

// TestPairsNeededPower simulates the test that the formula is for.
func TestPairsNeededPower(t *testing.T) {
	const spread, effect, alpha, power = 0.02, 0.008, 0.05, 0.8
	pairs := PairsNeeded(spread, effect, alpha, power)
	critical := 1.6448536269514722 * spread / math.Sqrt(float64(pairs)) // norm.ppf(0.95)
	random, seen := testSource(61), 0.0
	for range 4000 {
		mean := 0.0
		for range pairs {
			mean += (effect + spread*random.NormFloat64()) / float64(pairs)
		}
		if mean > critical {
			seen += 1. / 4000
		}
	}
	// Three standard errors are 0.019; rounding pairs up adds a little power.
	near(t, "power", seen, power, 0.025)
}

// What is seen in the rounds that are needed for an effect is that effect, rounded up by less than a round.
func TestEffectSeen(t *testing.T) {
	for _, effect := range []float64{0.01, 0.03, 0.1} {
		pairs := PairsNeeded(0.05, effect, 1e-5, 0.9)
		seen, before := EffectSeen(0.05, pairs, 1e-5, 0.9), EffectSeen(0.05, pairs-1, 1e-5, 0.9)
		if seen > effect || before <= effect {
			t.Errorf("%d rounds see %v, one less %v, want %v", pairs, seen, before, effect)
		}
	}
}
