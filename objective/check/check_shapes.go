package check

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/space"
)

// Matrix returns the shapes of the manifest's fuzz matrix that lie in the
// kernel's domain; a dimension that the matrix leaves out keeps its size in the
// workload. The order is fixed.
func Matrix(k *kernels.Kernel, w kernels.Workload) []kernels.Dims {
	shapes := []kernels.Dims{{}}
	for _, name := range slices.Sorted(maps.Keys(w.Dims)) {
		sizes := k.Fuzz[name]
		if len(sizes) == 0 {
			sizes = []int64{w.Dims[name]}
		}
		var next []kernels.Dims
		for _, shape := range shapes {
			for _, size := range sizes {
				next = append(next, with(shape, name, size))
			}
		}
		shapes = next
	}
	return slices.DeleteFunc(shapes, func(d kernels.Dims) bool { return !k.Allows(d) || !k.SameClass(w.Dims, d) })
}

func with(dims kernels.Dims, name string, size int64) kernels.Dims {
	changed := maps.Clone(dims)
	changed[name] = size
	return changed
}

// cost is a measure of what a shape costs to check: its operations where the
// manifest counts them, or its volume.
func cost(k *kernels.Kernel, dims kernels.Dims) float64 {
	if k.Work.Flops != nil {
		// A formula may use parameters, which a shape has not.
		if flops, err := k.Work.Flops.Number(dims.Environment()); err == nil {
			return flops
		}
	}
	return volume(k, dims)
}

// volume is the product of the sizes, but those that are said to make no work: with more heads
// of keys, each for fewer of queries, attention is as large as before.
func volume(k *kernels.Kernel, dims kernels.Dims) float64 {
	product := 1.0
	for name, size := range dims {
		if k.Work.Flops == nil || slices.Contains(k.Work.Flops.Names(), name) {
			product *= float64(max(size, 1)) // a flag that is 0 has no extent
		}
	}
	return product
}

// byCost returns the matrix from the cheapest shape to the dearest.
func byCost(k *kernels.Kernel, w kernels.Workload) []kernels.Dims {
	type priced struct {
		dims kernels.Dims
		cost float64
	}
	shapes := collect.Each(Matrix(k, w), func(dims kernels.Dims) priced { return priced{dims, cost(k, dims)} })
	slices.SortStableFunc(shapes, func(a, b priced) int { return cmp.Compare(a.cost, b.cost) })
	return collect.Each(shapes, func(shape priced) kernels.Dims { return shape.dims })
}

// generator draws shapes that no search times: sizes of 1, primes, and tails.
// Only the kernel's varying dimensions vary: the others may be constants of the
// compiled kernel.
type generator struct {
	kernel   *kernels.Kernel
	workload kernels.Workload
	sizes    map[string][]int64 // candidates by dimension, ascending
	tiles    []int64            // the point's integer values, ascending
	point    space.Environment  // nil for a point that is not one of the space
	limit    float64            // on cost
	volume   float64            // on the product of all sizes; 0 is no limit
	steps    []int64            // how far beside a whole number of tiles sizes lie, the largest last
}

// primes are far enough apart that no tile divides two of them.
var primes = []int64{2, 3, 5, 7, 13, 17, 31, 37, 61, 67, 97, 127, 131, 193, 257, 389, 521, 769, 1031, 2053}

// newGenerator draws for a point. An integer parameter of at least leastTile
// counts as a tile.
func newGenerator(k *kernels.Kernel, w kernels.Workload, point space.Point, limit float64, leastTile int64) *generator {
	g := &generator{kernel: k.At(point), workload: w, sizes: map[string][]int64{}, limit: limit, steps: []int64{1}}
	if k.Tiled() {
		g.steps = append(g.steps, classStep)
	}
	for _, a := range point.Assignments() {
		if n := a.Value.Integer(); a.Value.Kind() == space.Integer && n >= leastTile {
			g.tiles = append(g.tiles, n)
		}
	}
	if s, err := k.Space(w); err == nil {
		if env, err := s.Environment(point); err == nil {
			g.point = env
		}
	}
	slices.Sort(g.tiles)
	g.tiles = slices.Compact(g.tiles)
	for _, name := range k.Varying() {
		sizes := k.Fuzz[name]
		if len(sizes) == 0 {
			sizes = []int64{w.Dims[name], k.LargestSize(name)}
		}
		if slices.Contains(sizes, 0) { // a flag
			g.sizes[name] = sizes
			continue
		}
		// Twice the matrix's largest size leaves room for one past a tile.
		least, largest := int64(1), 2*slices.Max(sizes)
		if k.Allows(with(w.Dims, name, 0)) && !k.Allows(with(w.Dims, name, -w.Dims[name])) {
			least = 0 // as a condition says that rules out what is below
		}
		candidates := []int64{least, 1}
		for _, step := range g.steps {
			for _, prime := range primes {
				candidates = append(candidates, step*prime)
			}
			for _, size := range sizes {
				candidates = append(candidates, size-step, size, size+step)
			}
			for _, tile := range g.tiles {
				candidates = append(candidates, tile-step, tile, tile+step, 2*tile-step, 2*tile+step)
			}
		}
		slices.Sort(candidates)
		candidates = slices.Compact(candidates)
		g.sizes[name] = slices.DeleteFunc(candidates, func(n int64) bool {
			return n < least || n > largest || !k.SameClass(w.Dims, with(w.Dims, name, n))
		})
		if len(g.sizes[name]) == 0 {
			g.sizes[name] = []int64{w.Dims[name]}
		}
	}
	return g
}

// classStep is what sizes are multiples of that many compiled kernels on tiles are right for.
const classStep = 16

// step is the distance of tails.
func (g *generator) step() int64 { return g.steps[len(g.steps)-1] }

func (g *generator) allows(dims kernels.Dims) bool {
	if g.point != nil && !g.kernel.AllowsAt(g.point, dims) {
		return false
	}
	return g.kernel.Allows(dims) && g.kernel.SameClass(g.workload.Dims, dims) && cost(g.kernel, dims) <= g.limit &&
		(g.volume == 0 || volume(g.kernel, dims) <= g.volume) && g.runs(dims)
}

// runs reports whether the kernel can be called at all with sizes that nobody has
// named: its arguments have sizes and values there, and its launch has blocks.
func (g *generator) runs(dims kernels.Dims) bool {
	if _, err := g.kernel.Bind(dims); err != nil {
		return false
	}
	if _, err := g.kernel.Launch.Reference.At(environment(dims, g.kernel.ReferencePoint(g.kernel.Default()))); err != nil {
		return false
	}
	if g.point == nil {
		return true
	}
	env := maps.Clone(g.point)
	maps.Copy(env, dims.Environment())
	_, err := g.kernel.Launch.Calls(env)
	return err == nil
}

// tileSeed is the same for points with the same tiles: their tails are the same,
// and so the right answers for them can be remembered.
func (g *generator) tileSeed() uint64 {
	hash := fnv.New64a()
	fmt.Fprint(hash, g.tiles)
	return hash.Sum64()
}

// smallTile counts everything as a tile, largeTile leaves out what is rather a
// number of warps or of stages.
const (
	smallTile = 2
	largeTile = 9
)

// attempts is how often a shape is drawn before the domain counts as narrow.
const attempts = 200

// draw returns a shape in the domain and within the limit, or one of the
// matrix where the domain has hardly any other.
func (g *generator) draw(rng *rand.Rand) kernels.Dims {
	if dims := g.allowed(rng); dims != nil {
		return dims
	}
	shapes := byCost(g.kernel, g.workload)
	if len(shapes) == 0 {
		return g.workload.Dims
	}
	return shapes[rng.IntN((len(shapes)+1)/2)]
}

// allowed draws shapes until one may be used; nil where none was.
func (g *generator) allowed(rng *rand.Rand) kernels.Dims {
	for range attempts {
		dims := maps.Clone(g.workload.Dims)
		for _, name := range slices.Sorted(maps.Keys(g.sizes)) {
			dims[name] = g.sizes[name][rng.IntN(len(g.sizes[name]))]
		}
		if g.allows(dims) {
			return dims
		}
	}
	return nil
}

// ragged is draw with sizes of at least 2 that are no tile's multiple, as far
// as the domain has such: nothing is whole, and every tail is there at once.
func (g *generator) ragged(rng *rand.Rand) kernels.Dims {
	return g.where(rng, func(size int64) bool {
		return size > 1 &&
			!slices.ContainsFunc(g.tiles, func(t int64) bool { return t > max(2, g.step()) && size%t == 0 })
	})
}

// prime is draw with odd primes only: a kernel that is right for what computers
// like is seldom right for these.
func (g *generator) prime(rng *rand.Rand) kernels.Dims {
	return g.where(rng, func(size int64) bool {
		return slices.ContainsFunc(g.steps, func(step int64) bool {
			return size > 2*step && size%step == 0 && slices.Contains(primes, size/step)
		})
	})
}

// where is draw with the sizes that a condition admits, where there are such.
func (g *generator) where(rng *rand.Rand, admits func(size int64) bool) kernels.Dims {
	narrowed := *g
	narrowed.sizes = map[string][]int64{}
	for name, sizes := range g.sizes {
		narrowed.sizes[name] = preferred(sizes, admits)
	}
	if dims := narrowed.allowed(rng); dims != nil {
		return dims
	}
	return g.draw(rng)
}

// preferred returns what a condition admits, or all where it admits nothing.
func preferred[T any](all []T, admits func(T) bool) []T {
	if admitted := collect.Where(all, admits); admitted != nil {
		return admitted
	}
	return all
}

// edges returns, for each dimension and starting from a shape, the sizes of 1, of 0 where the domain has it,
// and of one beside the point's largest tile.
func (g *generator) edges(from kernels.Dims) []kernels.Dims {
	var shapes []kernels.Dims
	for _, name := range slices.Sorted(maps.Keys(g.sizes)) {
		sizes := []int64{0, 1}
		if len(g.tiles) > 0 {
			tile := g.tiles[len(g.tiles)-1]
			for _, step := range g.steps {
				sizes = append(sizes, tile-step, tile+step)
			}
		}
		for _, size := range sizes {
			if dims := with(from, name, size); slices.Contains(g.sizes[name], size) && g.allows(dims) {
				shapes = append(shapes, dims)
			}
		}
	}
	return shapes
}

// beyond returns, for each dimension, the workload with half as much more of it, or twice as much: a kernel may be
// right up to its workload's size alone.
func (g *generator) beyond() []kernels.Dims {
	larger := *g
	larger.limit, larger.volume = 2*cost(g.kernel, g.workload.Dims), 0
	var shapes []kernels.Dims
	for _, name := range slices.Sorted(maps.Keys(g.sizes)) {
		size := g.workload.Dims[name]
		for _, more := range []int64{size/2 + 1, size / 2, size} {
			if dims := with(g.workload.Dims, name, size+more); size > 1 && more > 0 && larger.allows(dims) {
				shapes = append(shapes, dims)
				break
			}
		}
	}
	return shapes
}

// Generated returns a shape that the search never times, within the kernel's
// domain, varying the kernel's varying dimensions only. It costs
// no more than most shapes of the matrix do.
func Generated(k *kernels.Kernel, w kernels.Workload, point space.Point, rng *rand.Rand) kernels.Dims {
	return newGenerator(k, w, point, generatedCost(k, w), smallTile).draw(rng)
}

// generatedCost is the cost that three quarters of the matrix stay within.
func generatedCost(k *kernels.Kernel, w kernels.Workload) float64 {
	shapes := byCost(k, w)
	if len(shapes) == 0 {
		return cost(k, w.Dims)
	}
	return cost(k, shapes[len(shapes)*3/4])
}
