package profile

import (
	"fmt"
	"math"

	"pawl/internal/page"
)

// shortLife is for how many cycles a warp lives whose block's place is empty for a noticeable part of the time: some
// 350 cycles pass on an H200 before the next block has it.
const shortLife = 5000

// occupancyRules are about places for warps that stay empty.
var occupancyRules = []Rule{
	{
		Name:    "too little work",
		Meaning: "The grid is smaller than the device: multiprocessors get no block, or fewer than fit.",
		Try:     "Smaller blocks of work, a split of the longest loop over blocks, or several problems in one launch.",
		Reason:  "with all places taken the empty ones are gone", Source: guide + ", launch statistics", Counter: waves,
		needs: []string{waves, gridSize, smCount},
		lost: func(f Facts) (float64, string, bool) {
			n, busy := f.get(waves), f.most(smBusy, memoryBusy, l2Busy, l1Busy)
			return 1 - max(n, busy), fmt.Sprintf("%.0f blocks for %.0f multiprocessors take %s of the places",
				f.get(gridSize), f.get(smCount), page.WholePercent(n)), n < 1 && busy < busyEnough
		},
	},
	{
		Name:    "tail",
		Meaning: "The blocks fill the device so many times and a rest: while the rest runs, the other places are empty.",
		Try: "Smaller blocks of work, a number of blocks that is a multiple of what fits, or as many blocks as fit " +
			"that take work in turns.",
		Reason: "with full waves only the places that stay empty are gone", Source: guide + ", launch statistics",
		Counter: waves,
		lost: func(f Facts) (float64, string, bool) {
			share, there := f.tail()
			n, _ := f.wavesOf()
			if idle, measured := f.uneven(); measured {
				share = min(share, idle) // blocks of different lengths fill each other's gaps
			}
			return share, fmt.Sprintf("%.3g waves, so that %s of the device's time is empty", n, page.WholePercent(share)),
				there && n >= 1
		},
	},
	{
		Name:    "uneven load",
		Meaning: "Some multiprocessors are done while others still work.",
		Try:     "Work of equal length for all blocks, the longest first, or blocks that take work in turns.",
		Reason:  "with an even load the idle time is gone", Source: guide + ", workload distribution", Counter: cyclesMean,
		lost: func(f Facts) (float64, string, bool) {
			idle, there := f.uneven()
			empty, _ := f.tail()
			return idle - empty, fmt.Sprintf("multiprocessors are idle %s of the time on average", page.WholePercent(idle)),
				there && idle > empty && f.get(gridSize) >= f.get(smCount)
		},
	},
	{
		Name:    "short blocks",
		Meaning: "Blocks are done before others have taken the places beside them: starting them takes the time.",
		Try: "More work a thread (several elements, 16 bytes a load), larger blocks, or as many blocks as fit that take " +
			"work in turns.",
		Reason: "with all places taken the empty ones are gone", Source: guide + ", occupancy", Counter: warpsActive,
		needs: []string{warpsActive, cyclesMean, smCount},
		lost: func(f Facts) (float64, string, bool) {
			share, most, resident := f.share(occupancyShare), f.share(occupancyMost), f.get(warpsActive)
			warps := f.get(gridSize) * math.Ceil(f.get(blockSize)/32)
			life := resident * f.get(cyclesMean) * f.get(smCount) / warps // of a warp on average, in cycles
			n, _ := f.wavesOf()
			busy := f.busiest()
			return 1 - max(share/most, busy),
				fmt.Sprintf("a warp lives for %.0f cycles, and %.1f warps are resident where %.0f fit", life, resident,
					resident*most/share), most > 0 && n >= 1 && warps > 0 && life < shortLife && busy < busyEnough
		},
	},
	{
		Name:    "too few warps",
		Meaning: "When a warp waits, there is no other one to run in its place.",
		Try: "What limits it says where: fewer registers (smaller tiles a thread, less unrolling, launch bounds), less " +
			"shared memory (smaller tiles, fewer stages), more threads a block; or more independent work in each warp: " +
			"overlap copies with arithmetic, unroll.",
		Reason: "if all waiting were hidden, the busiest part would be the limit", Source: guide + ", occupancy",
		Counter: occupancyMost, needs: []string{occupancyMost},
		lost: func(f Facts) (float64, string, bool) {
			busy := f.busiest()
			return 1 - max(f.share(occupancyMost), busy), f.Occupancy(), busy < busyEnough
		},
	},
}
