package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/page"
)

// Stall is what a share of the warps' time is spent at.
type Stall struct {
	// Reason is Nsight Compute's word, such as long_scoreboard.
	Reason  string  `json:"reason"`
	Share   float64 `json:"share"`
	Meaning string  `json:"meaning"`
}

// stallCounter is what the reasons are put into.
const stallCounter = "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio"

// stallReasons say what warps wait for, and what to try. Those without anything to try are no
// waits: a warp that issues, or that could.
var stallReasons = []struct{ reason, meaning, try string }{
	{"long_scoreboard", "data from global or local memory",
		"More loads in flight (unroll, stages, asynchronous copies), data in shared memory, a layout that hits the caches."},
	{"short_scoreboard", "shared memory or special functions (exponentials, reciprocals)",
		"Fewer or wider accesses to shared memory, fewer special functions or polynomials in their place."},
	{"barrier", "other warps at a barrier",
		"Fewer barriers, smaller blocks, work of equal length for all warps, warps that copy while others compute."},
	{"wait", "results of arithmetic with a fixed latency",
		"More independent instructions in each warp (unroll, two accumulators), or more warps."},
	{"mio_throttle", "the queue for shared memory and special functions",
		"Fewer or wider accesses to shared memory, fewer special functions in a row."},
	{"lg_throttle", "the queue for global and local memory",
		"Wider loads (16 bytes a lane) instead of many narrow ones; no spills."},
	{"math_pipe_throttle", "an arithmetic unit that is busy",
		"Another mix of instructions: part of the work on another unit."},
	{"gmma", "the asynchronous tensor cores", "Start the next product before the result of this one is needed."},
	{"drain", "stores at the end of the kernel", "Wider stores, or stores that begin earlier."},
	{"membar", "memory barriers", "Fewer or narrower fences."},
	{"no_instruction", "the next instructions", "Smaller code: less unrolling, fewer variants in one kernel."},
	{"branch_resolving", "branches", "Fewer branches in the innermost loop: unroll, or select instead of branching."},
	{"imc_miss", "constants", "Constants that all lanes of a warp read alike, or kernel arguments kept in registers."},
	{"dispatch_stall", "the dispatcher", "Fewer conflicts between registers and units: another order of instructions."},
	{"tex_throttle", "the texture units", "Fewer texture accesses."},
	{"sleeping", "an instruction to sleep", "Shorter pauses."},
	{"misc", "other reasons", "Nsight Compute's source view shows where."},
	{"not_selected", "their turn (others were ready)", ""},
	{"selected", "nothing: they issue", ""},
}

// Stalls returns what warps spend their time at, largest share first; nil where it was not counted.
func (f Facts) Stalls() []Stall {
	var all []Stall
	total := 0.0
	for _, r := range stallReasons {
		if value := f.get(fmt.Sprintf(stallCounter, r.reason)); value > 0 {
			all, total = append(all, Stall{r.reason, value, r.meaning}), total+value
		}
	}
	for i := range all {
		all[i].Share /= total
	}
	slices.SortStableFunc(all, func(a, b Stall) int { return cmp.Compare(b.Share, a.Share) })
	return all
}

// StallShare is the share of a reason, 0 where there is none.
func StallShare(stalls []Stall, reason string) float64 {
	found, _ := collect.First(stalls, func(s Stall) bool { return s.Reason == reason })
	return found.Share
}

// stallCauses are reasons to wait that no busy part of the device explains. The others apply where nothing is busy:
// where memory is the limit, waiting for it is no news.
var stallCauses = []string{"barrier", "membar", "no_instruction", "sleeping"}

// stallRules are a rule for each reason.
func stallRules() []Rule {
	var rules []Rule
	for _, r := range stallReasons {
		if r.try == "" {
			continue
		}
		cause := slices.Contains(stallCauses, r.reason)
		rules = append(rules, Rule{
			Name:    "stalls: " + strings.ReplaceAll(r.reason, "_", " "),
			Meaning: "Warps wait for " + r.meaning + ".", Try: r.try,
			Reason:  "without this wait its share of the cycles in which nothing is issued is gone",
			Source:  guide + ", warp stall reasons",
			Counter: fmt.Sprintf(stallCounter, r.reason), needs: []string{issueBusy}, symptom: !cause,
			lost: func(f Facts) (float64, string, bool) {
				issue := f.share(issueBusy)
				stalls := f.Stalls()
				share := StallShare(stalls, r.reason)
				// Where nothing is issued, no warp is ready.
				waiting := 1 - StallShare(stalls, "selected") - StallShare(stalls, "not_selected")
				return share / max(waiting, share, 0.01) * (1 - max(issue, f.busyBeside(""))),
					fmt.Sprintf("%s of the warps' time", page.WholePercent(share)),
					cause || max(f.busiest(), issue) < busyEnough
			},
		})
	}
	return rules
}
