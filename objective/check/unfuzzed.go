package check

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"

	"pawl/kernels"
	"pawl/objective/worker"
	"pawl/space"
)

// fixedFamilies is how many families the quick tier tries where no dimension varies:
// then every case is as large as the workload.
const fixedFamilies = 2

// quickWithoutMatrix is Quick for a kernel whose manifest names no shapes: they are
// generated, and families of inputs are tried on them. Where no dimension varies
// there are families alone, on the workload's own shape.
func quickWithoutMatrix(k *kernels.Kernel, w kernels.Workload, point space.Point, n int, seed uint64) []Case {
	g := newGenerator(k, w, point, min(cost(k, w.Dims), quickCost), largeTile)
	g.volume = quickVolume
	rng := rand.New(rand.NewPCG(seed, g.tileSeed()))
	var cases []Case
	families := k.Families()
	if len(g.sizes) > 0 {
		cases = []Case{
			{Dims: g.prime(rng), Seed: rng.Uint64()},
			{Dims: g.ragged(rng), Seed: rng.Uint64(), Layout: worker.Misaligned},
		}
	} else {
		n = min(n, fixedFamilies)
		rng = rand.New(rand.NewPCG(seed, 0)) // the same answers for all points
	}
	start := rng.IntN(max(len(families), 1))
	for i := 0; len(cases) < n && i < len(families); i++ {
		family := families[0]
		if i > 0 {
			family = families[1+(start+i)%(len(families)-1)]
		}
		cases = append(cases, Case{Dims: g.ragged(rng), Seed: rng.Uint64(), Family: family, Layout: layouts[i%len(layouts)]})
	}
	return cases[:min(n, len(cases))]
}

// fullWithoutMatrix is Full for such a kernel.
func fullWithoutMatrix(k *kernels.Kernel, w kernels.Workload, point space.Point, seed uint64) []Case {
	g := newGenerator(k, w, point, min(cost(k, w.Dims), fullCost), smallTile)
	g.volume = fullVolume
	rng := rand.New(rand.NewPCG(seed^0x66756c6c, g.tileSeed()))
	var cases []Case
	add := func(dims kernels.Dims, family string, seed uint64) {
		cases = append(cases, Case{Dims: dims, Seed: seed, Family: family, Layout: layouts[len(cases)%len(layouts)]})
	}
	generated := func(dims kernels.Dims, family string) {
		if !maps.Equal(dims, w.Dims) { // what the domain leaves is the workload, which comes last
			add(dims, family, rng.Uint64())
		}
	}
	if len(g.sizes) > 0 {
		for _, shape := range g.edges(g.ragged(rng)) {
			generated(shape, "")
		}
		for range generatedCases / 2 {
			generated(g.ragged(rng), "")
			generated(g.draw(rng), "")
		}
	}
	for _, family := range k.Families() {
		before := len(cases)
		if len(g.sizes) == 0 || kernels.OfIntegers(family) && cost(k, w.Dims) <= fullCost {
			add(w.Dims, family, seed)
		}
		generated(g.ragged(rng), family)
		generated(g.draw(rng), family)
		if len(cases) == before { // the domain has no other shape
			add(w.Dims, family, seed)
		}
	}
	return append(cases, Case{Dims: w.Dims, Seed: seed, Layout: worker.Aligned})
}

// Unchecked says which sizes results were never checked on: the dimensions of
// buffers that have the same size in every case of the full tier. It is empty where
// all of them vary. Constants of the compiled kernel are no such dimensions.
func Unchecked(k *kernels.Kernel, w kernels.Workload) string {
	seen := map[string]map[int64]bool{}
	for _, c := range Full(k, w, k.Default(), 1) {
		for name, size := range c.Dims {
			if seen[name] == nil {
				seen[name] = map[int64]bool{}
			}
			seen[name][size] = true
		}
	}
	var fixed []string
	for _, name := range k.Extents() {
		if len(seen[name]) < 2 {
			fixed = append(fixed, fmt.Sprintf("%s=%d", name, w.Dims[name]))
		}
	}
	if len(fixed) == 0 {
		return ""
	}
	return fmt.Sprintf("results were checked with %s only; sizes in the manifest's fuzz section would have it checked with others", strings.Join(fixed, ", "))
}
