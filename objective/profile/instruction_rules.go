package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"pawl/internal/page"
)

// unit is what instructions take turns at, and what it is called in a sentence.
type unit struct{ counter, name string }

var units = []unit{
	{fmaBusy, "FMA units"}, {aluBusy, "ALUs (integers, comparisons, logic)"}, {doubleBusy, "f64 units"},
	{specialBusy, "special-function units"}, {tensorBusy, "tensor cores"}, {constantBusy, "constant cache"},
	{"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", "load and store units"},
}

// What the special-function units are busy with.
const (
	functions  = "special functions"
	converting = "conversions"
	dividing   = "integer division"
	widening   = "f64 arithmetic"
)

// instructionRules are about what is executed, and for how many lanes.
var instructionRules = []Rule{
	{
		Name:    "block size",
		Meaning: "The last warp of each block has lanes without a thread.",
		Try:     "A multiple of 32 threads a block.",
		Reason:  "with full warps the instructions for lanes without a thread are gone",
		Source:  practices + ", thread and block heuristics", Counter: blockSize,
		needs: []string{issueBusy, blockSize},
		lost: func(f Facts) (float64, string, bool) {
			threads := f.get(blockSize)
			return (1 - f.fullWarps()) * f.share(issueBusy),
				fmt.Sprintf("%.0f threads are %.0f warps, %s of whose lanes have a thread", threads, math.Ceil(threads/32),
					page.WholePercent(f.fullWarps())), true
		},
	},
	{
		Name:    "idle lanes",
		Meaning: "Lanes of a warp have loops of different length or take different branches, and each waits for the others.",
		Try: "Sort or group work so that the lanes of a warp have equally much of the same kind; share a long loop among " +
			"the lanes; selections in place of short branches.",
		Reason: "with all lanes at work the instructions for idle lanes are gone",
		Source: practices + ", branching and divergence", Counter: threadsPerInst,
		needs: []string{issueBusy},
		lost: func(f Facts) (float64, string, bool) {
			lanes := f.get(threadsPerInst)
			return max(0, f.fullWarps()-lanes/32) * f.share(issueBusy),
				fmt.Sprintf("%.3g of 32 lanes are at work in an instruction", lanes), lanes > 0 && lanes <= 32
		},
	},
	{
		Name:    "no tensor cores",
		Meaning: "A product of matrices is computed by the FMA units.",
		Try:     "Tensor-core instructions: fp16, bf16 or fp8 where that is precise enough, tf32 for f32.",
		Reason:  "tensor cores do such products at least eight times as fast", Source: "NVIDIA H100 architecture white paper",
		Counter: tensorBusy, needs: []string{fmaBusy, tensorBusy},
		lost: func(f Facts) (float64, string, bool) {
			return 7.0 / 8 * f.share(fmaBusy), fmt.Sprintf("the FMA units are busy %s of the time, the tensor cores %s",
				f.percent(fmaBusy), f.percent(tensorBusy)), f.Product && f.share(tensorBusy) < 0.02
		},
	},
	{
		Name:    widening,
		Meaning: "Numbers of 64 bits take more time than those of 32, and so does it to widen and to narrow them.",
		Try: "f32 where that is precise enough: constants with an f (0.5f), functions with an f (sqrtf), sums in two " +
			"floats; f64 for the few steps that need it.",
		Reason: "in f32 the rest of the instructions, or the same number of cheaper ones, is the limit",
		Source: practices + ", arithmetic instructions", Counter: doubleBusy,
		needs: []string{doubleBusy},
		lost: func(f Facts) (float64, string, bool) {
			lost, limit := f.without(doubleBusy)
			if few, many := f.get(doublePeak), f.get(floatPeak); limit && f.has(doublePeak) {
				lost = min(lost, 1-few/max(few, many))
			} else if f.specialWork() == widening {
				lost, limit = f.without(specialBusy)
			}
			return lost, fmt.Sprintf("the f64 units are busy %s of the time, the special-function units, which convert, %s",
				f.percent(doubleBusy), f.percent(specialBusy)), limit
		},
	},
	{
		Name:    dividing,
		Meaning: "No instruction divides integers: a quotient or a remainder takes some 20, of 64 bits some 80.",
		Try: "Divisors that the compiler knows (best powers of two), one division for quotient and remainder, indices " +
			"that are counted up in place of divided, 32 bits in place of 64, a multiplication by a reciprocal of the host's.",
		Reason: "without divisions their instructions are gone", Source: practices + ", division and modulo operations",
		Counter: conversions, needs: []string{instructions},
		lost: func(f Facts) (float64, string, bool) {
			count, all := f.get(specials), f.get(instructions)
			const each = 20
			share := min(1, each*count/3/max(all, 1))
			return f.saved(share, smBusy, memoryBusy, l2Busy, l1Busy),
				fmt.Sprintf("%s reciprocals with two conversions each, as divisions are compiled, among %s instructions",
					amount(count/3, ""), amount(all, "")), f.specialWork() == dividing
		},
	},
	{
		Name:    converting,
		Meaning: "Conversions between types take the special-function units, which do an eighth of what the FMA units do.",
		Try: "One type throughout an inner loop: convert once before or after it; counters and indices as integers of 32 " +
			"bits; small integers packed and converted by arithmetic (magic numbers, prmt).",
		Reason: "without them the next busy part is the limit", Source: practices + ", type conversion instructions",
		Counter: specialBusy, lost: busyUnit(specialBusy, "special-function units are", converting),
	},
	{
		Name:    functions,
		Meaning: "Exponentials, logarithms, roots and reciprocals take units that do an eighth of the FMA units' work.",
		Try: "Fewer of them (take them out of loops, a reciprocal for many divisions, exp2 with a scaled argument), part " +
			"of them as polynomials on the FMA units, two halves at a time.",
		Reason: "without them the next busy part is the limit", Source: guide + ", compute workload analysis",
		Counter: specialBusy, lost: busyUnit(specialBusy, "special-function units are", functions),
	},
	{
		Name:    "scattered constants",
		Meaning: "Lanes of a warp read different constants, and the constant cache serves one address after the other.",
		Try:     "A table in shared or global memory where lanes differ; constant memory for what all lanes read alike.",
		Reason:  "without them the next busy part is the limit", Source: practices + ", constant memory",
		Counter: constantBusy, lost: busyUnit(constantBusy, "constant cache is", ""),
	},
	{
		Name:    "compute-bound",
		Meaning: "Instructions are the limit: only fewer or cheaper ones help, or what is left to the peak.",
		Try:     "Take repeated work out of loops, use cheaper instructions (approximations, packed types).",
		Reason:  "with the same instructions the busiest unit's peak is the limit",
		Source:  guide + ", compute workload analysis", Counter: smBusy, symptom: true,
		lost: func(f Facts) (float64, string, bool) {
			busy := f.share(smBusy)
			unit := slices.MaxFunc(units, func(a, b unit) int { return cmp.Compare(f.share(a.counter), f.share(b.counter)) })
			return 1 - busy, fmt.Sprintf("the multiprocessors are busy %s of the time, the %s %s, issue slots %s",
				page.WholePercent(busy), unit.name, f.percent(unit.counter), f.percent(issueBusy)), busy >= busyEnough
		},
	},
}

// busyUnit is the rule of a unit when it is the limit; work is what the special-function units must do.
func busyUnit(unit, name, work string) func(Facts) (float64, string, bool) {
	return func(f Facts) (float64, string, bool) {
		lost, limit := f.without(unit)
		return lost, fmt.Sprintf("the %s busy %s of the time", name, f.percent(unit)),
			limit && (work == "" || f.specialWork() == work)
	}
}

// specialWork says what the special-function units do: what cannot be told apart is special functions. A division of
// integers is a reciprocal, a conversion before it and one after it, among many integer instructions.
func (f Facts) specialWork() string {
	converted, executed := f.get(conversions), f.get(threadsPerInst)*f.get(specials)
	share := converted / max(executed, 1)
	switch {
	case !f.has(threadsPerInst) || share < 0.5:
		return functions
	case f.get(doubles) >= converted/4:
		return widening
	case share < 0.8 && f.get(integers) >= 4*executed:
		return dividing
	}
	return converting
}

// fullWarps is which share of the lanes of a block's warps have a thread; 1 where that is unknown.
func (f Facts) fullWarps() float64 {
	threads := f.get(blockSize)
	if threads <= 0 {
		return 1
	}
	return threads / (32 * math.Ceil(threads/32))
}

// without is the share of the time that is gone at most without a unit's work, if that unit is the limit: what is
// next busy would be.
func (f Facts) without(unit string) (lost float64, limit bool) {
	busy := f.share(unit)
	beside := f.busyBeside(unit)
	return 1 - max(beside, f.most(issueBusy)), busy >= busyEnough && busy > beside
}

// busyBeside is how busy the busiest part is while a multiprocessor has work, one unit and the issue slots left aside.
func (f Facts) busyBeside(unit string) float64 {
	busy := f.most(memoryBusy, l2Busy, l1Busy)
	for _, other := range units {
		if other.counter != unit {
			busy = max(busy, f.most(other.counter))
		}
	}
	return busy
}
