package check

import (
	"math/rand/v2"
	"testing"

	"pawl/kernels"
)

// A flag keeps to the values that the matrix names, heads of keys divide those of queries, and
// how many there are makes no shape too large.
func TestGeneratedShapesKnowFlags(t *testing.T) {
	k, err := kernels.Load("attention_hopper", kernels.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	w := k.Workloads[0]
	g := newGenerator(k, w, k.Default(), quickCost, largeTile)
	g.volume = quickVolume
	rng := rand.New(rand.NewPCG(1, 1))
	causal, shared, long := map[int64]int{}, 0, 0
	for range 200 {
		d := g.draw(rng)
		causal[d["CAUSAL"]]++
		if d["H"]%d["HK"] != 0 {
			t.Fatalf("%s is not in the domain", d)
		}
		if d["H"] > d["HK"] {
			shared++
		}
		if d["S"] > 128 {
			long++
		}
	}
	if causal[0] < 50 || causal[1] < 50 || len(causal) != 2 || shared < 20 || long < 20 {
		t.Errorf("causal %v, %d with shared heads, %d of more than a tile", causal, shared, long)
	}
}
