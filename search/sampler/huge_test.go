package sampler

import (
	"math/rand/v2"
	"testing"

	"pawl/internal/thorough"
	"pawl/space"
)

// hugePool is a sampled pool of 10⁹ points: nine parameters of ten values.
func hugePool(t testing.TB) *space.Pool {
	t.Helper()
	var params []space.Param
	for _, name := range []string{"A", "B", "C", "D", "E", "F", "G", "H", "I"} {
		params = append(params, ordered(name, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10))
	}
	s, err := space.New(params, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := s.Pool(space.PoolOptions{Branches: 3_000_000})
	if err != nil {
		t.Fatal(err)
	}
	if pool.Complete() {
		t.Fatal("the pool is complete")
	}
	return pool
}

// hugeTime is 1 at the optimum, which one point in 10⁹ has: each parameter has a place of its own, and
// two neighbors that are off to different sides cost more.
func hugeTime(row space.Row) float64 {
	time, before := 1.0, 0.0
	for i, value := range row {
		off := float64(int(value) - (3+5*i)%10)
		time += 0.02*off*off + 0.01*(off-before)*(off-before)
		before = off
	}
	return time
}

// reach returns the fraction of the optimum that a search finds.
func reach(t testing.TB, pool *space.Pool, seed uint64, trials int) (fraction float64) {
	chooser, err := New("auto", pool.Space(), Defaults())
	if err != nil {
		t.Fatal(err)
	}
	view := NewView(pool)
	for i := range trials {
		index := pool.Keep(chooser.Next(view, rand.New(rand.NewPCG(seed, uint64(i)))))
		pool.Forget()
		view.Ask(index)
		o := Observation{Index: index, Milliseconds: hugeTime(pool.Row(index))}
		view.Observe(o)
		fraction = max(fraction, 1/o.Milliseconds)
	}
	return fraction
}

// In a space of a billion points a search leaves the sample that it begins with.
func TestHugeSpaces(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	pool := hugePool(t)
	var fixed, growing float64
	seeds := thorough.Count(1, 3)
	for seed := range uint64(seeds) {
		fixed += reach(t, pool, seed, 80) / float64(seeds)
		growing += reach(t, pool.Growing(), seed, 80) / float64(seeds)
	}
	t.Logf("%.3f of the optimum in a fixed sample, %.3f in one that grows", fixed, growing)
	if growing < 0.95 || growing < fixed {
		t.Errorf("%.3f of the optimum, %.3f in a fixed sample", growing, fixed)
	}
}
