package profile

import (
	"fmt"

	"pawl/internal/page"
)

// atomicRules are about threads that wait for each other at the same addresses.
var atomicRules = []Rule{
	{
		Name:    "contended atomics",
		Meaning: "Atomic operations go to few addresses: a slice of L2 does them one after the other, and the others wait.",
		Try: "Add up in registers, in a warp (shuffles) or in shared memory first, and send one atomic a block; or several " +
			"copies of what is added to, each for some of the blocks. No locks.",
		Reason: "with atomics spread over all slices the busiest other part is the limit", Source: guide + ", L2 cache",
		Counter: atomicMost, needs: []string{atomicMost, atomicMean},
		lost: func(f Facts) (float64, string, bool) {
			most, mean := f.share(atomicMost), f.share(atomicMean)
			rest := f.most(smBusy, memoryBusy, l2Busy, l1Busy)
			return (1 - mean/most) * (1 - rest),
				fmt.Sprintf("one slice of L2 is busy with atomics %s of the time, all of them %.2g %% on average",
					page.WholePercent(most), 100*mean), most > rest
		},
	},
	{
		Name:    "atomics in shared memory",
		Meaning: "Lanes and warps add to the same words of shared memory: each takes a pass of its own, or tries again.",
		Try: "Add up in registers or in a warp (shuffles, __reduce_add_sync, __match_any_sync) first; a copy of the bins " +
			"for each warp; integers in place of floats, which are compared and swapped.",
		Reason: "without them the repeated passes are gone", Source: practices + ", shared memory and memory banks",
		Counter: atomicPasses,
		lost: func(f Facts) (float64, string, bool) {
			passes := f.get(sharedPasses)
			share := min(1, f.repeatedAtomics()/passes)
			return f.saved(share, l1Busy, memoryBusy, l2Busy),
				fmt.Sprintf("%s of the passes over shared memory repeat atomics (%s of %s)", page.WholePercent(share),
					amount(f.repeatedAtomics(), ""), amount(passes, "")), passes > 0
		},
	},
}

// repeatedAtomics is how many passes over shared memory atomics take beyond one each.
func (f Facts) repeatedAtomics() float64 { return max(0, f.get(atomicPasses)-f.get(atomicShared)) }
