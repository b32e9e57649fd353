package sampler

import (
	"math"
	"math/rand/v2"
	"testing"

	"pawl/internal/thorough"
	"pawl/space"
)

func TestBoundOfBest(t *testing.T) {
	// One candidate, standard normal: it is below -x with probability Φ(-x).
	// Φ(-1.2816) = 0.1, so with 90 % it is not ahead of 0 by more than 1.2816.
	one := []candidate{{mean: 0, deviation: 1, works: 1, weight: 1}}
	if got := boundOfBest(one, 0, 0.9); math.Abs(got-1.2815515655) > 1e-6 {
		t.Errorf("one candidate: %v", got)
	}
	// Ten of them: each may be below with 1 - 0.9^(1/10) = 0.010481, whose
	// normal quantile is -2.3087 (tables).
	ten := []candidate{{mean: 0, deviation: 1, works: 1, weight: 10}}
	if got := boundOfBest(ten, 0, 0.9); math.Abs(got-2.3087) > 1e-3 {
		t.Errorf("ten candidates: %v", got)
	}
	hopeless := []candidate{{mean: 100, deviation: 1, works: 1, weight: 1000}}
	if got := boundOfBest(hopeless, 0, 0.9); got > 1e-6 {
		t.Errorf("nothing near: %v", got)
	}
	broken := []candidate{{mean: -100, deviation: 1, works: 0, weight: 10}}
	if got := boundOfBest(broken, 0, 0.9); got > 1e-6 {
		t.Errorf("points that do not work: %v", got)
	}
}

func TestSecondHalf(t *testing.T) {
	if got := secondHalf([]float64{5, 4, 9, 3}); math.Abs(got-0.25) > 1e-12 {
		t.Errorf("from 4 to 3: %v", got)
	}
	if got := secondHalf([]float64{3, 4, 9, 5}); got != 0 {
		t.Errorf("no gain: %v", got)
	}
}

// The bound must hold on a noisy machine too, where the best time is partly luck.
func TestRegretOnANoisyMachine(t *testing.T) {
	var params []space.Param
	for _, name := range []string{"A", "B", "C", "D"} {
		params = append(params, ordered(name, 1, 2, 4, 8, 16, 32))
	}
	pool := poolOf(t, params...)
	truth := func(index int) float64 { // from 1 at the best to about 3
		sum := 0.0
		for j, v := range pool.Row(index) {
			sum += math.Abs(float64(v)-float64(1+j)) * 0.12
		}
		return 1 + sum
	}
	const trials, noise = 60, 0.15
	seeds := thorough.Count(6, 20)
	held, none := 0.0, 0
	for seed := range uint64(seeds) {
		view := NewView(pool)
		sampler := newGP(newCommon(pool.Space(), Defaults()), pool.Space())
		rng := rand.New(rand.NewPCG(seed, 1))
		for range trials {
			index := sampler.Next(view, rng)
			view.Ask(index)
			view.Observe(Observation{Index: index, Milliseconds: truth(index) * math.Exp(noise*rng.NormFloat64())})
		}
		best := view.fastest(1)[0]
		regret, known := EstimateRegret(view, Defaults(), seed)
		if !known {
			t.Fatal("no estimate")
		}
		if left := 1 - 1/truth(best.Index); left <= regret.Left+1e-6 {
			held++
		}
		if regret.Left < 0.01 {
			none++
		}
	}
	if held < 0.9*float64(seeds) || none > 0 {
		t.Errorf("the bound held in %.0f of %d searches, %d of which say that nothing is left", held, seeds, none)
	}
}
