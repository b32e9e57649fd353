package check

import (
	"math"
	"slices"

	"pawl/kernels"
	"pawl/space"
)

// ShrinkRuns is how many runs a smaller case is worth.
const ShrinkRuns = 80

// Shrink walks from a failing case of a point to smaller shapes and plainer inputs, as
// long as they fail, and returns the smallest.
func Shrink(k *kernels.Kernel, w kernels.Workload, point space.Point, c Case, fails func(Case) bool) Case {
	// No limit on cost: what is smaller costs less.
	return shrink(k, c, newGenerator(k, w, point, math.Inf(1), smallTile).allows, fails)
}

func shrink(k *kernels.Kernel, c Case, allows func(kernels.Dims) bool, fails func(Case) bool) Case {
	plain := c
	plain.Family, plain.Layout = "", ""
	if plain.String() != c.String() && fails(plain) {
		c = plain
	}
	for again := true; again; {
		again = false
		for _, name := range k.Varying() {
			for _, size := range smaller(c.Dims[name]) {
				candidate := c
				candidate.Dims = with(c.Dims, name, size)
				if allows(candidate.Dims) && fails(candidate) {
					c, again = candidate, true
					break
				}
			}
		}
	}
	return c
}

// smaller returns sizes to try in place of one, the smallest first.
func smaller(size int64) []int64 {
	sizes := []int64{1, 2, size / 8, size / 4, size / 2, size - size/4, size - 1}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	return slices.DeleteFunc(sizes, func(n int64) bool { return n < 1 || n >= size })
}
