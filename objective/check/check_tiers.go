package check

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"pawl/kernels"
	"pawl/kernels/arguments"
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
//
// A kernel whose manifest names no shapes has families of inputs on generated shapes
// instead of the stock; one whose dimensions do not vary has families alone, on the
// workload's own shape.
func Quick(k *kernels.Kernel, w kernels.Workload, point space.Point, n int, seed uint64) []Case {
	if k.Answered() {
		return answered(w, seed, worker.Guarded, worker.Misaligned)
	}
	shapes := byCost(k, w)
	matrix := len(shapes) > 0 && len(k.Fuzz) > 0
	limit := cost(k, w.Dims)
	if matrix {
		limit = cost(k, shapes[(len(shapes)-1)/2])
	}
	g := newGenerator(k, w, point, min(limit, quickCost), largeTile)
	g.volume = quickVolume
	rng := rand.New(rand.NewPCG(seed, g.tileSeed()))
	var cases []Case
	if len(g.sizes) > 0 {
		cases = []Case{
			{Dims: g.prime(rng), Seed: rng.Uint64()},
			{Dims: g.ragged(rng), Seed: rng.Uint64(), Layout: worker.Misaligned},
		}
	} else {
		n = min(n, fixedFamilies)
		rng = rand.New(rand.NewPCG(seed, 0)) // the same answers for all points
	}
	if matrix {
		cases = append(cases, fromStock(quickStock(k, shapes, seed), n-len(cases), rng)...)
	} else {
		cases = append(cases, ofFamilies(k.Arguments.Families(), n-len(cases), g, rng)...)
	}
	return cases[:min(n, len(cases))]
}

// fixedFamilies is how many families the quick tier tries where no dimension varies:
// then every case is as large as the workload.
const fixedFamilies = 2

// fromStock draws cases: the first of the family that breaks most, then others in turn.
func fromStock(stock [][]Case, n int, rng *rand.Rand) (cases []Case) {
	start := rng.IntN(len(stock))
	for len(cases) < n {
		family := stock[0]
		if others := len(stock) - 1; len(cases) > 0 && others > 0 {
			family = stock[1+(start+2+len(cases))%others]
		}
		cases = append(cases, family[rng.IntN(len(family))])
	}
	return cases
}

// ofFamilies draws shapes for families in the same order.
func ofFamilies(families []string, n int, g *generator, rng *rand.Rand) (cases []Case) {
	start := rng.IntN(max(len(families), 1))
	for i := 0; i < n && i < len(families); i++ {
		family := families[0]
		if i > 0 {
			family = families[1+(start+i)%(len(families)-1)]
		}
		cases = append(cases, Case{Dims: g.ragged(rng), Seed: rng.Uint64(), Family: family, Layout: layouts[i%len(layouts)]})
	}
	return cases
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
	wide := preferred(shapes, func(d kernels.Dims) bool {
		for name, sizes := range k.Fuzz {
			if d[name] == 1 && len(sizes) > 1 {
				return false
			}
		}
		return true
	})
	wide = preferred(wide[:(len(wide)+1)/2], func(d kernels.Dims) bool { return volume(k, d) <= stockVolume })
	families := k.Arguments.Families()
	if len(families) == 0 {
		families = []string{arguments.Declared}
	}
	rng := rand.New(rand.NewPCG(seed, 0x73746f636b))
	stock := make([][]Case, len(families))
	for i, family := range families {
		for turn := range quickTurns {
			stock[i] = append(stock[i],
				Case{Dims: wide[rng.IntN(len(wide))], Seed: rng.Uint64(), Family: family, Layout: layouts[(i+turn)%len(layouts)]})
		}
	}
	return stock
}

// generatedCases is the number of generated shapes in the full tier.
const generatedCases = 20

// Full returns the cases that a point must pass before it is suggested: every
// shape of the matrix, the edges of every dimension, generated shapes, larger ones than the workload, every
// family of inputs on three shapes, and the workload itself. Cases of the matrix
// are the same for every point, and generated ones for every point with the same
// tiles, so that their answers are computed once.
func Full(k *kernels.Kernel, w kernels.Workload, point space.Point, seed uint64) []Case {
	if k.Answered() {
		return answered(w, seed, layouts...)
	}
	matrix, limit := Matrix(k, w), cost(k, w.Dims)
	if len(k.Fuzz) == 0 || len(matrix) == 0 {
		matrix = nil
	} else {
		limit = generatedCost(k, w)
	}
	var cases []Case
	for i, shape := range matrix {
		cases = append(cases, Case{Dims: shape, Seed: seed + uint64(i)})
	}
	g := newGenerator(k, w, point, min(limit, fullCost), smallTile)
	g.volume = fullVolume
	rng := rand.New(rand.NewPCG(seed^0x66756c6c, g.tileSeed()))
	add := func(dims kernels.Dims, family string, seed uint64) {
		cases = append(cases, Case{Dims: dims, Seed: seed, Family: family, Layout: layouts[len(cases)%len(layouts)]})
	}
	generated := func(dims kernels.Dims, family string) {
		if matrix != nil || !maps.Equal(dims, w.Dims) { // what a narrow domain leaves is the workload, which comes last
			add(dims, family, rng.Uint64())
		}
	}
	if len(g.sizes) > 0 {
		for _, shape := range g.edges(g.middle(matrix, rng)) {
			generated(shape, "")
		}
		for range generatedCases / 2 {
			generated(g.ragged(rng), "")
			generated(g.draw(rng), "")
		}
		for _, shape := range g.beyond() {
			add(shape, "", seed)
		}
	}
	for i, family := range k.Families() {
		before := len(cases)
		switch {
		case len(g.sizes) == 0 || arguments.OfIntegers(family) && cost(k, w.Dims) <= fullCost:
			add(w.Dims, family, seed) // counters overflow on many numbers, and there are many special ones
		case matrix != nil:
			add(matrix[(7*i+len(matrix)/2)%len(matrix)], family, seed)
		}
		generated(g.ragged(rng), family)
		generated(g.draw(rng), family)
		if len(cases) == before { // the domain has no other shape
			add(w.Dims, family, seed)
		}
	}
	return append(cases, Case{Dims: w.Dims, Seed: seed, Layout: worker.Aligned})
}

// middle is the shape that edges start from: one of the matrix, or a generated one.
func (g *generator) middle(matrix []kernels.Dims, rng *rand.Rand) kernels.Dims {
	if matrix != nil {
		return matrix[len(matrix)/2]
	}
	return g.ragged(rng)
}

// Random returns a case that any of the tiers might hold, for checking as long
// as one likes.
func Random(k *kernels.Kernel, w kernels.Workload, point space.Point, rng *rand.Rand) Case {
	if k.Answered() {
		return answered(w, rng.Uint64(), layouts[rng.IntN(len(layouts))])[0]
	}
	families := append([]string{arguments.Declared}, k.Families()...)
	c := Case{Seed: rng.Uint64(), Family: families[rng.IntN(len(families))], Layout: layouts[rng.IntN(len(layouts))]}
	if matrix := Matrix(k, w); len(matrix) > 0 && rng.IntN(4) == 0 {
		c.Dims = matrix[rng.IntN(len(matrix))]
		return c
	}
	c.Dims = Generated(k, w, point, rng)
	return c
}

// Unscaled says that magnitudes beyond those of the manifest's fills were not checked; empty where some were.
func Unscaled(k *kernels.Kernel) string {
	var names []string
	for _, a := range k.Arguments {
		if a.Large != 0 || k.Answered() {
			return ""
		}
		if a.Unscaled() {
			names = append(names, a.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("larger magnitudes of %s were not checked; large would have it checked with them",
		strings.Join(names, ", "))
}

// Unchecked says which sizes results were never checked on: the dimensions of
// buffers, and values of arguments, that are the same in every case of the full tier. It is empty where
// all of them vary. Constants of the compiled kernel are no such dimensions.
func Unchecked(k *kernels.Kernel, w kernels.Workload) string {
	if k.Answered() {
		return unanswered(k, w)
	}
	cases := Full(k, w, k.Default(), 1)
	var fixed []string
	for _, name := range k.Sizes() {
		size, there := w.Dims[name]
		if there && !slices.ContainsFunc(cases, func(c Case) bool { return c.Dims[name] != size }) {
			fixed = append(fixed, fmt.Sprintf("%s=%d", name, size))
		}
	}
	class := k.Class(w)
	switch {
	case len(fixed) == 0 && class == "":
		return ""
	case len(fixed) == 0:
		return fmt.Sprintf("results were checked at sizes of the workload's specialization only (%s): others have machine "+
			"code of their own, which a workload with such sizes would have checked", class)
	}
	return fmt.Sprintf("results were checked with %s only; sizes in the manifest's fuzz section would have it checked "+
		"with others", strings.Join(fixed, ", "))
}
