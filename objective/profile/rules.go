package profile

import (
	"fmt"
	"math"

	"pawl/internal/page"
)

// Rule is a piece of advice that applies where a launch loses time at something.
type Rule struct {
	// Name is what the rule is about, in a few words.
	Name string `json:"name"`
	// Meaning says what it sees, Try what to do about it.
	Meaning string `json:"meaning"`
	Try     string `json:"try"`
	// Reason says why the bound on the gain is what it is.
	Reason string `json:"reason"`
	// Source is who says so.
	Source string `json:"source"`
	// lost returns the share of the time that would be saved if the loss were gone, and what was
	// seen, in words. A share below 0 is not known. It is not ok where the rule does not apply.
	lost func(Facts) (share float64, seen string, ok bool)
}

// specific says that a rule names a fault, and not how busy something is.
func (r Rule) specific() bool {
	switch r.Name {
	case "too few warps", "latency", "memory-bound", "compute-bound", "L2-bound", "L1-bound":
		return false
	}
	return true
}

const (
	guide     = "Nsight Compute's Kernel Profiling Guide"
	practices = "CUDA C++ Best Practices Guide"
)

// applies is the smallest share of the time that advice is given for.
const applies = 0.05

// unknown is the share of a loss that nobody knows.
const unknown = -1

// Rules are all rules about launches as a whole; those about single stalls are in stalls.go.
var Rules = []Rule{
	{
		Name:    "spills",
		Meaning: "Registers do not suffice: values are kept in local memory, which lies in the caches and behind them.",
		Try: "Fewer values alive at a time (smaller tiles per thread, less unrolling), fewer threads a block, or a " +
			"launch bound that allows more registers.",
		Reason: "without local memory the rest of the traffic, or the arithmetic, is the limit",
		Source: guide + ", local memory",
		lost: func(f Facts) (float64, string, bool) {
			local, there := f.get(sectorsLocal)
			if there && local > 0 {
				at, lost := f.costliest(func(l level) float64 { return l.local })
				return lost, fmt.Sprintf("%s of the traffic to %s is local memory", page.WholePercent(at.local), at.name), true
			}
			if there || f.Resources == nil || f.Resources.SpillStores+f.Resources.SpillLoads == 0 {
				return 0, "", false
			}
			return unknown,
				fmt.Sprintf("the compiler spills %d bytes a thread", f.Resources.SpillStores+f.Resources.SpillLoads), true
		},
	},
	{
		Name:    "bank conflicts",
		Meaning: "Lanes of a warp read or write different words of the same bank, one after the other.",
		Try: "Pad the rows of tiles by one element (or 16 bytes), swizzle the columns, or let neighbouring lanes take " +
			"neighbouring words.",
		Reason: "without conflicts the repeated passes are gone", Source: practices + ", shared memory and memory banks",
		lost: func(f Facts) (float64, string, bool) {
			passes, there := f.get(sharedPasses)
			ideal, also := f.get(sharedIdeal)
			if !there || !also || passes <= 0 {
				return 0, "", false
			}
			share := max(0, 1-ideal/passes)
			return f.saved(share, l1Busy, memoryBusy, l2Busy),
				fmt.Sprintf("%s of the passes over shared memory are repeats (%s where %s would do)", page.WholePercent(share),
					amount(passes, ""), amount(ideal, "")), true
		},
	},
	{
		Name:    "uncoalesced accesses",
		Meaning: "Lanes of a warp touch more 32-byte sectors than their data fills.",
		Try: "Let neighbouring lanes take neighbouring elements: another loop order, a transposed layout, wider " +
			"loads, or a tile that is read in rows and used in columns.",
		Reason: "without the sectors that are fetched in vain the rest of the traffic, or the arithmetic, is the limit",
		Source: practices + ", coalesced access to global memory",
		lost: func(f Facts) (float64, string, bool) {
			if f.levels() == nil {
				return 0, "", false
			}
			at, lost := f.costliest(func(l level) float64 { return l.vain })
			seen := fmt.Sprintf("%s of the traffic to %s is in vain", page.WholePercent(at.vain), at.name)
			if bytes, there := f.get(bytesPerSector); there && bytes > 0 {
				seen += fmt.Sprintf(", %.3g of 32 bytes of a loaded sector are used", bytes)
			}
			return lost, seen, true
		},
	},
	{
		Name:    "tail",
		Meaning: "The blocks fill the device so many times and a rest: while the rest runs, the other places are empty.",
		Try: "Smaller blocks of work, a number of blocks that is a multiple of what fits, or as many blocks as fit " +
			"that take work in turns.",
		Reason: "with full waves only the places that stay empty are gone", Source: guide + ", launch statistics",
		lost: func(f Facts) (float64, string, bool) {
			share, there := f.tail()
			n, _ := f.wavesOf()
			if !there || n < 1 {
				return 0, "", false
			}
			if idle, measured := f.uneven(); measured {
				share = min(share, idle) // blocks of different lengths fill each other's gaps
			}
			return share, fmt.Sprintf("%.3g waves, so that %s of the device's time is empty", n, page.WholePercent(share)), true
		},
	},
	{
		Name:    "too little work",
		Meaning: "Some multiprocessors get no block at all.",
		Try:     "Smaller blocks of work, a split of the longest loop over blocks, or several problems in one launch.",
		Reason:  "with all multiprocessors at work the idle ones are gone", Source: guide + ", launch statistics",
		lost: func(f Facts) (float64, string, bool) {
			blocks, there := f.get(gridSize)
			all, also := f.get(smCount)
			if !there || !also || all <= 0 || blocks >= all {
				return 0, "", false
			}
			return 1 - blocks/all, fmt.Sprintf("%.0f blocks for %.0f multiprocessors", blocks, all), true
		},
	},
	{
		Name:    "uneven load",
		Meaning: "Some multiprocessors are done while others still work.",
		Try:     "Work of equal length for all blocks, the longest first, or blocks that take work in turns.",
		Reason:  "with an even load the idle time is gone", Source: guide + ", workload distribution",
		lost: func(f Facts) (float64, string, bool) {
			idle, there := f.uneven()
			empty, _ := f.tail()
			blocks, _ := f.get(gridSize)
			all, _ := f.get(smCount)
			if !there || idle <= empty || blocks < all {
				return 0, "", false
			}
			return idle - empty, fmt.Sprintf("multiprocessors are idle %s of the time on average", page.WholePercent(idle)), true
		},
	},
	{
		Name:    "too few warps",
		Meaning: "When a warp waits, there is no other one to run in its place.",
		Try: "Fewer registers or less shared memory a block, so that another block fits; or more independent work in " +
			"each warp: overlap copies with arithmetic, unroll.",
		Reason: "if all waiting were hidden, the busiest part would be the limit", Source: guide + ", occupancy",
		lost: func(f Facts) (float64, string, bool) {
			resident, there := f.get(warpsActive)
			most, also := f.share(occupancyMost)
			busy := f.busiest()
			if !there || !also || busy >= busyEnough || resident >= 32 || most >= 0.5 {
				return 0, "", false
			}
			return 1 - busy, f.Occupancy(), true
		},
	},
	{
		Name:    "latency",
		Meaning: "Warps wait for each other, for memory or for results; the reasons follow.",
		Try: "More loads in flight before the first is used, fewer synchronisations, longer runs of independent " +
			"instructions.",
		Reason: "if all waiting were hidden, the busiest part would be the limit", Source: guide + ", warp state statistics",
		lost: func(f Facts) (float64, string, bool) {
			_, there := f.get(smBusy)
			resident, _ := f.get(warpsActive)
			most, _ := f.share(occupancyMost)
			busy := f.busiest()
			if !there || busy >= busyEnough || resident < 32 && most < 0.5 {
				return 0, "", false
			}
			return 1 - busy, fmt.Sprintf("no part of the device is more than %s busy", page.WholePercent(busy)), true
		},
	},
	{
		Name:    "memory-bound",
		Meaning: "The memory is the limit: only fewer bytes help, or what is left to its peak.",
		Try: "Fuse with what comes before or after, keep data in registers or shared memory, use a smaller type; " +
			"wider or asynchronous loads for the rest.",
		Reason: "with the same bytes the memory's peak is the limit", Source: "Williams et al., Roofline, 2009",
		lost: func(f Facts) (float64, string, bool) {
			busy, there := f.share(memoryBusy)
			return 1 - busy, fmt.Sprintf("the memory is busy %s of the time", page.WholePercent(busy)),
				there && busy >= busyEnough
		},
	},
	{
		Name:    "repeated reads",
		Meaning: "The same data goes to and from memory several times.",
		Try:     "Larger tiles, an order of blocks that shares data in L2, or keeping it in shared memory.",
		Reason:  "with each byte moved once the rest of the traffic is gone", Source: "Williams et al., Roofline, 2009",
		lost: func(f Facts) (float64, string, bool) {
			moved, there := f.traffic()
			busy, also := f.share(memoryBusy)
			if !there || !also || f.Bytes <= 0 || moved <= f.Bytes || busy < 0.3 {
				return 0, "", false
			}
			// What other rules explain is not read again.
			left, beside := 1.0, ""
			if levels := f.levels(); levels != nil {
				memory := levels[len(levels)-1]
				left = 1 - memory.local - memory.vain
			}
			share := left - f.Bytes/moved
			if left < 1-applies {
				beside = ", beside " + page.Bytes((1-left)*moved) + " of uncoalesced accesses and spills"
			}
			return f.saved(share, memoryBusy),
				fmt.Sprintf("%s moved where the manifest says %s%s; L2 hits are %s", page.Bytes(left*moved), page.Bytes(f.Bytes),
					beside, f.percent(l2Hits)), share > 0
		},
	},
	{
		Name:    "L2-bound",
		Meaning: "Requests to L2 are the limit, not the memory behind it.",
		Try: "Keep what is used again in shared memory or registers, share loads between blocks (clusters, " +
			"multicast), coalesce.",
		Reason: "with the same requests L2's peak is the limit", Source: guide + ", memory tables",
		lost: busyCache(l2Busy, "L2", l2Hits),
	},
	{
		Name:    "L1-bound",
		Meaning: "Accesses to the L1 cache and to shared memory are the limit.",
		Try: "Wider accesses (16 bytes a lane), values kept in registers, tensor-core instructions that read shared " +
			"memory themselves.",
		Reason: "with the same accesses L1's peak is the limit", Source: guide + ", memory tables",
		lost: busyCache(l1Busy, "L1", l1Hits),
	},
	{
		Name:    "compute-bound",
		Meaning: "Instructions are the limit: only fewer or cheaper ones help, or what is left to the peak.",
		Try: "Take repeated work out of loops, use cheaper instructions (approximations, packed types), tensor cores " +
			"where products of matrices are computed.",
		Reason: "with the same instructions the busiest pipeline's peak is the limit",
		Source: guide + ", compute workload analysis",
		lost: func(f Facts) (float64, string, bool) {
			busy, there := f.share(smBusy)
			return 1 - busy,
				fmt.Sprintf("the multiprocessors are busy %s of the time, the tensor cores %s, issue slots %s",
					page.WholePercent(busy), f.percent(tensorBusy), f.percent(issueBusy)), there && busy >= busyEnough
		},
	},
	{
		Name:    "no tensor cores",
		Meaning: "All arithmetic is done by the FMA units.",
		Try:     "Where it is a product of matrices in fp16, bf16, tf32 or fp8: tensor-core instructions.",
		Reason:  "tensor cores do such products at least eight times as fast", Source: "NVIDIA H100 architecture white paper",
		lost: func(f Facts) (float64, string, bool) {
			fma, there := f.share(fmaBusy)
			tensor, also := f.share(tensorBusy)
			busy, _ := f.share(smBusy)
			return 7.0 / 8 * min(fma, busy),
				fmt.Sprintf("the FMA units are busy %s of the time, the tensor cores %s", page.WholePercent(fma),
					page.WholePercent(tensor)), there && also && min(fma, busy) >= busyEnough && tensor < 0.02
		},
	},
	{
		Name:    "divergent branches",
		Meaning: "Lanes of a warp take different ways, and each way is run for the others too.",
		Try: "Sort or group work by the branch it takes, replace short branches by selections, let whole warps take " +
			"one way.",
		Reason: "with all lanes at work the instructions for idle lanes are gone",
		Source: practices + ", branching and divergence",
		lost: func(f Facts) (float64, string, bool) {
			lanes, there := f.get(threadsPerInst)
			issue, also := f.share(issueBusy)
			if !there || !also || lanes <= 0 || lanes > 32 {
				return 0, "", false
			}
			return (1 - lanes/32) * issue, fmt.Sprintf("%.3g of 32 lanes are at work in an instruction", lanes), true
		},
	},
	{
		Name:    "low clock",
		Meaning: "The device ran slower than it can: its power or heat limit, or a clock that had not risen yet.",
		Try: "pawl doctor shows limits and throttling; a kernel that draws less power (fewer wasted instructions and " +
			"bytes) keeps its clock.",
		Reason: "what depends on the clock would be faster by as much", Source: "NVIDIA NVML, clocks and their limits",
		lost: func(f Facts) (float64, string, bool) {
			now, there := f.get(clock)
			most, also := f.get(clockMost)
			if !there || !also || most <= 0 {
				return 0, "", false
			}
			share := max(0, 1-now/(1e3*most))
			return share * max(f.most(smBusy, l1Busy, l2Busy), 0.5), fmt.Sprintf("%.0f of %.0f MHz", now/1e6, most/1e3),
				share >= applies
		},
	},
	{
		Name:    "launch-bound",
		Meaning: "A launch that does nothing takes about 2 µs: there is little left to tune in the kernel.",
		Try:     "Do more in one launch: fuse kernels, batch problems, or replay launches as a CUDA graph.",
		Reason:  "an empty launch takes about 2 µs", Source: "measured by pawl on an H200: docs/benchmarks.md",
		lost: func(f Facts) (float64, string, bool) {
			s := f.seconds()
			return math.Min(0.95, 2e-6/s), "a launch takes " + page.Milliseconds(1e3*s), f.onGPU() && s > 0 && s < LaunchBound
		},
	},
}

// busyCache is the rule of a cache that is the limit.
func busyCache(counter, name, hits string) func(Facts) (float64, string, bool) {
	return func(f Facts) (float64, string, bool) {
		busy, there := f.share(counter)
		memory, _ := f.share(memoryBusy)
		return 1 - busy,
			fmt.Sprintf("%s is busy %s of the time, its hits are %s", name, page.WholePercent(busy), f.percent(hits)),
			there && busy >= busyEnough && busy > memory
	}
}

func (f Facts) percent(name string) string {
	value, there := f.share(name)
	if !there {
		return page.Unknown
	}
	return page.WholePercent(value)
}
