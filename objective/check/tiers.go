package check

import (
	"math/rand/v2"
	"slices"

	"pawl/kernels"
	"pawl/objective/worker"
	"pawl/space"
)

// layouts are the places of buffers, in the order in which tiers use them: the
// end against an unmapped page, the start against one, and no more alignment
// than was asked for.
var layouts = []worker.Layout{worker.Guarded, worker.Aligned, worker.Misaligned}

// Quick returns the cases that every trial is checked on beside the workload
// itself: cheap ones that reject nearly everything wrong.
//
// The first two are for the point's large tiles: primes in every dimension, then
// their tails; points with the same tiles share them. The others come from a small
// stock that all points share, because what costs most is the right answer, and
// it is remembered: one of the family that breaks most, then others in turn. The
// seed fixes all of them.
func Quick(k *kernels.Kernel, w kernels.Workload, point space.Point, n int, seed uint64) []Case {
	shapes := byCost(k, w)
	if len(shapes) == 0 || len(k.Fuzz) == 0 {
		return quickWithoutMatrix(k, w, point, n, seed)
	}
	cheap := shapes[:(len(shapes)+1)/2]
	g := newGenerator(k, w, point, min(cost(k, cheap[len(cheap)-1]), quickCost), largeTile)
	g.volume = quickVolume
	rng := rand.New(rand.NewPCG(seed, g.tileSeed()))
	cases := []Case{
		{Dims: g.prime(rng), Seed: rng.Uint64()},
		{Dims: g.ragged(rng), Seed: rng.Uint64(), Layout: worker.Misaligned},
	}
	stock := quickStock(k, shapes, seed)
	start := rng.IntN(len(stock))
	for len(cases) < n {
		family := stock[0]
		if others := len(stock) - 1; len(cases) > 2 && others > 0 {
			family = stock[1+(start+len(cases))%others]
		}
		cases = append(cases, family[rng.IntN(len(family))])
	}
	return cases[:n]
}

// Generated cases have answers that few others can use, so they are kept small:
// a tail needs no large problem. The costs are operations, the volumes products
// of all sizes.
const (
	quickCost, quickVolume = 2e8, 2.5e5
	fullCost, fullVolume   = 4e9, 2e6
	// stockVolume bounds the cases of the stock, which are made anew for every
	// worker that stays.
	stockVolume = 1 << 21
)

// quickTurns is the number of cases of each family in the stock.
const quickTurns = 2

// quickStock returns cases by family that the points of a search share. Their
// shapes are the cheaper half of those without a side of 1, which exercise
// little of anything else.
func quickStock(k *kernels.Kernel, shapes []kernels.Dims, seed uint64) [][]Case {
	thick := slices.DeleteFunc(slices.Clone(shapes), func(d kernels.Dims) bool {
		for name, sizes := range k.Fuzz {
			if d[name] == 1 && len(sizes) > 1 {
				return true
			}
		}
		return false
	})
	if len(thick) == 0 {
		thick = shapes
	}
	thick = thick[:(len(thick)+1)/2]
	if small := slices.DeleteFunc(slices.Clone(thick), func(d kernels.Dims) bool { return volume(d) > stockVolume }); len(small) > 0 {
		thick = small
	}
	families := k.Families()
	if len(families) == 0 {
		families = []string{kernels.Declared}
	}
	rng := rand.New(rand.NewPCG(seed, 0x73746f636b))
	stock := make([][]Case, len(families))
	for i, family := range families {
		for turn := range quickTurns {
			stock[i] = append(stock[i], Case{Dims: thick[rng.IntN(len(thick))], Seed: rng.Uint64(), Family: family, Layout: layouts[(i+turn)%len(layouts)]})
		}
	}
	return stock
}

// generatedCases is the number of generated shapes in the full tier.
const generatedCases = 20

// Full returns the cases that a point must pass before it is suggested: every
// shape of the matrix, the edges of every dimension, generated shapes, every
// family of inputs on three shapes, and the workload itself. Cases of the matrix
// are the same for every point, and generated ones for every point with the same
// tiles, so that their answers are computed once.
func Full(k *kernels.Kernel, w kernels.Workload, point space.Point, seed uint64) []Case {
	matrix := Matrix(k, w)
	if len(k.Fuzz) == 0 || len(matrix) == 0 {
		return fullWithoutMatrix(k, w, point, seed)
	}
	var cases []Case
	add := func(dims kernels.Dims, family string, seed uint64) {
		cases = append(cases, Case{Dims: dims, Seed: seed, Family: family, Layout: layouts[len(cases)%len(layouts)]})
	}
	for i, shape := range matrix {
		cases = append(cases, Case{Dims: shape, Seed: seed + uint64(i)})
	}
	g := newGenerator(k, w, point, min(generatedCost(k, w), fullCost), smallTile)
	g.volume = fullVolume
	rng := rand.New(rand.NewPCG(seed^0x66756c6c, g.tileSeed()))
	for _, shape := range g.edges(matrix[len(matrix)/2]) {
		add(shape, "", rng.Uint64())
	}
	for i := range generatedCases {
		if i%2 == 0 {
			add(g.ragged(rng), "", rng.Uint64())
		} else {
			add(g.draw(rng), "", rng.Uint64())
		}
	}
	for i, family := range k.Families() {
		first := matrix[(7*i+len(matrix)/2)%len(matrix)]
		if kernels.OfIntegers(family) && cost(k, w.Dims) <= fullCost {
			first = w.Dims // counters overflow on many numbers, and there are many special ones
		}
		add(first, family, seed)
		add(g.ragged(rng), family, rng.Uint64())
		add(g.draw(rng), family, rng.Uint64())
	}
	return append(cases, Case{Dims: w.Dims, Seed: seed, Layout: worker.Aligned})
}

// Random returns a case that any of the tiers might hold, for checking as long
// as one likes.
func Random(k *kernels.Kernel, w kernels.Workload, point space.Point, rng *rand.Rand) Case {
	families := append([]string{kernels.Declared}, k.Families()...)
	c := Case{Seed: rng.Uint64(), Family: families[rng.IntN(len(families))], Layout: layouts[rng.IntN(len(layouts))]}
	matrix := Matrix(k, w)
	if len(matrix) > 0 && rng.IntN(4) == 0 {
		c.Dims = matrix[rng.IntN(len(matrix))]
		return c
	}
	c.Dims = Generated(k, w, point, rng)
	return c
}
