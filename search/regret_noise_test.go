package search

import (
	"math"
	"math/rand/v2"
	"testing"

	"pawl/space"
)

// The bound must hold on a noisy machine too, where the best time is partly luck.
func TestRegretOnANoisyMachine(t *testing.T) {
	var params []space.Param
	for _, name := range []string{"A", "B", "C", "D"} {
		p := space.Param{Name: name, Ordered: true}
		for _, v := range []int64{1, 2, 4, 8, 16, 32} {
			p.Values = append(p.Values, space.IntegerValue(v))
		}
		p.Default = p.Values[0]
		params = append(params, p)
	}
	s, err := space.New(params, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := s.Pool(space.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	truth := func(index int) float64 { // from 1 at the best to about 3
		sum := 0.0
		for j, v := range pool.Row(index) {
			sum += math.Abs(float64(v)-float64(1+j)) * 0.12
		}
		return 1 + sum
	}
	const seeds, trials, noise = 20, 60, 0.15
	held, none := 0.0, 0
	for seed := range uint64(seeds) {
		view := NewView(pool)
		sampler := newGP(s)
		rng := rand.New(rand.NewPCG(seed, 1))
		for range trials {
			index := sampler.Next(view, rng)
			view.Ask(index)
			view.Tell(Observation{Index: index, Milliseconds: truth(index) * math.Exp(noise*rng.NormFloat64())})
		}
		best, _ := view.Best()
		regret, known := EstimateRegret(view, seed)
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
	if held < 0.9*seeds || none > 0 {
		t.Errorf("the bound held in %.0f of %d searches, %d of which say that nothing is left", held, seeds, none)
	}
}
