package profile

import (
	"fmt"
	"math"
	"slices"

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
	// Source is who says so, Counter what decides: without it the rule says nothing.
	Source  string `json:"source"`
	Counter string `json:"counter"`
	// needs are the counters that lost cannot do without.
	needs []string
	// lost returns the share of the time that would be saved if the loss were gone, and what was
	// seen, in words. A share below 0 is not known. It is not ok where the rule does not apply.
	lost func(Facts) (share float64, seen string, ok bool)
	// symptom says that the rule names what is busy or what is waited for, and no fault that a reader can remove.
	symptom bool
}

// apply is lost, or nothing where a counter is missing or the rule does not apply.
func (r Rule) apply(f Facts) (share float64, seen string, ok bool) {
	if f.has(r.needs...) {
		share, seen, ok = r.lost(f)
	}
	if !ok {
		return 0, "", false
	}
	return share, seen, true
}

const (
	guide     = "Nsight Compute's Kernel Profiling Guide"
	practices = "CUDA C++ Best Practices Guide"
)

// applies is the smallest share of the time that advice is given for.
const applies = 0.05

// withoutLocal is why local memory can cost no more than it is said to.
const withoutLocal = "without local memory the rest of the traffic, or the arithmetic, is the limit"

// unknown is the share of a loss that nobody knows.
const unknown = -1

// Rules are all rules about launches as a whole; those about single stalls are in stalls.go.
var Rules = slices.Concat(occupancyRules, atomicRules, instructionRules, trafficRules)

// trafficRules are about bytes and who moves them, and about the clock.
var trafficRules = []Rule{
	{
		Name:    "spills",
		Meaning: "Registers do not suffice: values are kept in local memory, which lies in the caches and behind them.",
		Try: "Fewer values alive at a time (smaller tiles per thread, less unrolling), fewer threads a block, or a " +
			"launch bound that allows more registers.",
		Reason: withoutLocal, Source: guide + ", local memory", Counter: sectorsLocal,
		lost: func(f Facts) (float64, string, bool) {
			if f.has(sectorsLocal) {
				return f.localMemory(!f.localArrays())
			}
			if f.Resources == nil || f.Resources.SpillStores+f.Resources.SpillLoads == 0 {
				return 0, "", false
			}
			return unknown,
				fmt.Sprintf("the compiler spills %d bytes a thread", f.Resources.SpillStores+f.Resources.SpillLoads), true
		},
	},
	{
		Name:    "local arrays",
		Meaning: "An array of each thread is indexed by variables, and registers have no index: it lies in local memory.",
		Try: "Unroll the loops over it, so that every index is a constant; or keep it in shared memory, one column a " +
			"thread.",
		Reason: withoutLocal, Source: practices + ", local memory", Counter: spilled,
		lost: func(f Facts) (float64, string, bool) { return f.localMemory(f.localArrays()) },
	},
	{
		Name:    "bank conflicts",
		Meaning: "Lanes of a warp read or write different words of the same bank, one after the other.",
		Try: "Pad the rows of tiles by one element (or 16 bytes), swizzle the columns, or let neighboring lanes take " +
			"neighboring words.",
		Reason: "without conflicts the repeated passes are gone", Source: practices + ", shared memory and memory banks",
		Counter: sharedIdeal, needs: []string{sharedPasses, sharedIdeal},
		lost: func(f Facts) (float64, string, bool) {
			passes, ideal := f.get(sharedPasses), f.get(sharedIdeal)
			share := max(0, 1-(ideal+f.repeatedAtomics())/passes)
			return f.saved(share, l1Busy, memoryBusy, l2Busy),
				fmt.Sprintf("%s of the passes over shared memory are repeats (%s where %s would do)", page.WholePercent(share),
					amount(passes, ""), amount(ideal, "")), passes > 0
		},
	},
	{
		Name:    "uncoalesced accesses",
		Meaning: "Lanes of a warp touch more 32-byte sectors than their data fills.",
		Try: "Let neighboring lanes take neighboring elements: another loop order, a transposed layout, wider " +
			"loads, or a tile that is read in rows and used in columns.",
		Reason:  "without the sectors that are fetched in vain the rest of the traffic, or the arithmetic, is the limit",
		Source:  practices + ", coalesced access to global memory",
		Counter: sectorsIdeal,
		lost: func(f Facts) (float64, string, bool) {
			at, lost := f.costliest(func(l level) float64 { return l.vain })
			seen := fmt.Sprintf("%s of the traffic to %s is in vain", page.WholePercent(at.vain), at.name)
			if bytes := f.get(bytesPerSector); bytes > 0 {
				seen += fmt.Sprintf(", %.3g of 32 bytes of a loaded sector are used", bytes)
			}
			return lost, seen, f.levels() != nil
		},
	},
	{
		Name:    "memory-bound",
		Meaning: "The memory is the limit: only fewer bytes help, or what is left to its peak.",
		Try: "Fuse with what comes before or after, keep data in registers or shared memory, use a smaller type; " +
			"wider or asynchronous loads for the rest.",
		Reason: "with the same bytes the memory's peak is the limit", Source: "Williams et al., Roofline, 2009",
		Counter: memoryBusy, symptom: true,
		lost: func(f Facts) (float64, string, bool) {
			busy := f.share(memoryBusy)
			return 1 - busy, fmt.Sprintf("the memory is busy %s of the time", page.WholePercent(busy)), busy >= busyEnough
		},
	},
	{
		Name:    "repeated reads",
		Meaning: "The same data goes to and from memory several times.",
		Try:     "Larger tiles, an order of blocks that shares data in L2, or keeping it in shared memory.",
		Reason:  "with each byte moved once the rest of the traffic is gone", Source: "Williams et al., Roofline, 2009",
		Counter: bytesRead, needs: []string{bytesRead, bytesWritten},
		lost: func(f Facts) (float64, string, bool) {
			moved, _ := f.traffic()
			if f.Bytes <= 0 || moved <= f.Bytes || f.share(memoryBusy) < 0.3 {
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
		Counter: l2Busy, symptom: true,
		lost: busyCache(l2Busy, "L2", l2Hits),
	},
	{
		Name:    "L1-bound",
		Meaning: "Accesses to the L1 cache and to shared memory are the limit.",
		Try: "Wider accesses (16 bytes a lane), values kept in registers, tensor-core instructions that read shared " +
			"memory themselves.",
		Reason: "with the same accesses L1's peak is the limit", Source: guide + ", memory tables",
		Counter: l1Busy, symptom: true,
		lost: busyCache(l1Busy, "L1", l1Hits),
	},
	{
		Name:    "low clock",
		Meaning: "The device ran slower than it can: its power or heat limit, or a clock that had not risen yet.",
		Try: "pawl doctor shows limits and throttling; a kernel that draws less power (fewer wasted instructions and " +
			"bytes) keeps its clock.",
		Reason: "what depends on the clock would be faster by as much", Source: "NVIDIA NVML, clocks and their limits",
		Counter: clock, needs: []string{clock, clockMost}, symptom: true,
		lost: func(f Facts) (float64, string, bool) {
			now, most := f.get(clock), f.get(clockMost)
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
		Counter: duration,
		lost: func(f Facts) (float64, string, bool) {
			s := f.seconds()
			return math.Min(0.95, 2e-6/s), "a launch takes " + page.Milliseconds(1e3*s), f.onGPU() && s > 0 && s < LaunchBound
		},
	},
}

// busyCache is the rule of a cache that is the limit.
func busyCache(counter, name, hits string) func(Facts) (float64, string, bool) {
	return func(f Facts) (float64, string, bool) {
		busy := f.share(counter)
		return 1 - busy,
			fmt.Sprintf("%s is busy %s of the time, its hits are %s", name, page.WholePercent(busy), f.percent(hits)),
			busy >= busyEnough && busy > f.most(memoryBusy, smBusy)
	}
}

func (f Facts) percent(name string) string {
	if !f.has(name) {
		return page.Unknown
	}
	return page.WholePercent(f.share(name))
}
