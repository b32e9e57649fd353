package objective

import (
	"context"
	"math"
	"slices"

	"pawl/kernels"
	"pawl/objective/worker"
)

// shrinkRuns bounds the runs that a smaller case may cost.
const shrinkRuns = 80

// Shrink looks for the smallest shape, and the plainest inputs, at which a
// point fails in the same way. Every attempt runs in a fresh worker. It returns
// the finding itself where nothing smaller fails, and again = false where not
// even the case itself does when it is repeated alone: then the failure depends
// on what ran before it, or on the scheduling of threads.
func (e *Evaluator) Shrink(ctx context.Context, p Prepared, f Finding) (smallest Finding, again bool, err error) {
	runs := shrinkRuns
	if f.Failure.Reason == string(worker.Hung) {
		runs = 4 // each costs the whole time allowed
	}
	smallest = f
	fails := func(c Case) bool {
		if err != nil || runs == 0 {
			return false
		}
		runs--
		var found Finding
		if found, err = e.Try(ctx, p, slices.Values([]Case{c}), nil); err != nil || found.Failure == nil || found.Failure.Reason != f.Failure.Reason {
			return false
		}
		smallest.Failure, smallest.Case, again = found.Failure, c, true
		return true
	}
	if fails(f.Case) {
		// No limit on cost: what is smaller costs less.
		shrink(e.kernel, f.Case, newGenerator(e.kernel, e.workload, p.Point, math.Inf(1), smallTile).allows, fails)
	}
	return smallest, again, err
}

// shrink walks from a failing case to smaller ones, as long as they fail.
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
