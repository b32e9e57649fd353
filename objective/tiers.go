package objective

import (
	"hash/fnv"
	"math/rand/v2"

	"pawl/kernels"
	"pawl/objective/worker"
	"pawl/space"
)

// layouts are the places of buffers, in the order in which tiers use them: the
// end against an unmapped page, the start against one, and no more alignment
// than was asked for.
var layouts = []worker.Layout{worker.Guarded, worker.Aligned, worker.Misaligned}

// Quick returns the cases that every trial is checked on beside the workload
// itself: cheap ones that reject nearly everything wrong. The first has tails in
// every dimension, the next ones the inputs that break most. The seed fixes
// them; each point has its own.
func Quick(k *kernels.Kernel, w kernels.Workload, point space.Point, n int, seed uint64) []Case {
	shapes := byCost(k, w)
	if len(shapes) == 0 || len(k.Fuzz) == 0 {
		return nil
	}
	rng := rand.New(rand.NewPCG(pointSeed(seed, point), 0x717569636b))
	cheap := shapes[:(len(shapes)+1)/2]
	g := newGenerator(k, w, point, cost(k, cheap[len(cheap)-1]))
	families := k.Families()
	var cases []Case
	for i := range n {
		c := Case{Seed: rng.Uint64(), Layout: layouts[i%len(layouts)]}
		if i%2 == 1 {
			c.Dims = cheap[rng.IntN(len(cheap))]
		} else {
			c.Dims = g.ragged(rng)
		}
		switch {
		case i == 0 || len(families) == 0: // as the manifest says
		case i == 1:
			c.Family = families[0]
		default:
			c.Family = families[rng.IntN(len(families))]
		}
		cases = append(cases, c)
	}
	return cases
}

// generatedCases is the number of generated shapes in the full tier.
const generatedCases = 24

// Full returns the cases that a point must pass before it is suggested: every
// shape of the matrix, the edges of every dimension, generated shapes, every
// family of inputs on three shapes, and the workload itself. Cases of the matrix
// are the same for every point, so that their answers are computed once.
func Full(k *kernels.Kernel, w kernels.Workload, point space.Point, seed uint64) []Case {
	matrix := Matrix(k, w)
	var cases []Case
	add := func(dims kernels.Dims, family string, seed uint64) {
		cases = append(cases, Case{Dims: dims, Seed: seed, Family: family, Layout: layouts[len(cases)%len(layouts)]})
	}
	for i, shape := range matrix {
		cases = append(cases, Case{Dims: shape, Seed: seed + uint64(i)})
	}
	if len(k.Fuzz) > 0 && len(matrix) > 0 {
		rng := rand.New(rand.NewPCG(pointSeed(seed, point), 0x66756c6c))
		g := newGenerator(k, w, point, dearest(k, w))
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
			add(matrix[(7*i+len(matrix)/2)%len(matrix)], family, seed)
			add(g.ragged(rng), family, rng.Uint64())
			add(g.draw(rng), family, rng.Uint64())
		}
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

// pointSeed makes the drawn cases of each point its own, and the same again
// when an interrupted study is resumed.
func pointSeed(seed uint64, point space.Point) uint64 {
	hash := fnv.New64a()
	hash.Write([]byte(point.String()))
	return hash.Sum64() ^ seed*0x9e3779b97f4a7c15
}
