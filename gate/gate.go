// Package gate answers whether a change may land: is it slower than the baseline,
// faster, or neither, and how sure is that?
//
// One sign convention holds everywhere: a change is (baseline-current)/baseline,
// so positive means faster.
//
// A comparison goes in these steps:
//
//  1. One sample of each arm says what a round costs. From that and the budget follow
//     the analyses and the samples a process; where nothing could be proven, the
//     comparison is refused.
//  2. Baseline, candidate and a control, which is the baseline once more, are
//     measured in rounds: each round measures each of them once, in a fresh
//     process, in permuted blocks of all orders.
//  3. At a few interim analyses that are planned beforehand ([Analysis], a group
//     sequential design) the [Evidence] is weighed: the interval of the change
//     over rounds and the exact test against all orders that the rounds could have had, at
//     levels that the analyses share. So stopping early does not raise the rate of false alarms.
//  4. A [Policy] turns evidence into a [Verdict]. Where the control differs from
//     the baseline, where the ratio moved during the run, or where the noise could
//     hide what the policy forbids, the verdict is inconclusive and says why.
//  5. A regression must hold at the second analysis, and an improvement is measured a second
//     time before it counts.
//
// Where both sides were not measured together ([CompareApart]) nothing cancels:
// drift and autocorrelation are tested for, and small differences decide nothing.
//
// The package knows no device. An [experiment.Experiment] measures the arms, and what decides here is its rule.
package gate

import (
	"fmt"

	"pawl/objective/experiment"
	"pawl/objective/worker"
)

// Verdict is the answer to whether a change may land.
type Verdict string

const (
	// Regression: slower by more than the policy allows, and proven.
	Regression Verdict = "regression"
	// Improvement: faster by more than the policy asks, proven twice; the
	// baseline moves.
	Improvement Verdict = "improvement"
	// Maintained: a proven difference too small to matter, or the same machine
	// code.
	Maintained Verdict = "maintained"
	// NoDifference: the intervals overlap, and what the policy forbids would
	// have been seen.
	NoDifference Verdict = "no significant difference"
	// New: there was nothing to compare with: the kernel, or the device, or the sizes.
	New Verdict = "new"
	// Wrong: the results are wrong, whatever the speed.
	Wrong Verdict = "wrong"
	// Vanished: the base gates it, and the branch under test has left nothing to compare with
	// that.
	Vanished Verdict = "vanished"
	// Inconclusive: the measurement cannot answer; the reason says why.
	Inconclusive Verdict = "inconclusive"
	// Infeasible: it does not run here, or not in the time allowed, so that nothing is
	// known about its results or its speed.
	Infeasible Verdict = "infeasible"
)

// Verdicts lists all verdicts in the order of reports.
var Verdicts = []Verdict{Wrong, Regression, Improvement, Maintained, NoDifference, New, Vanished, Inconclusive,
	Infeasible}

// Fails reports whether a change with this verdict must not land.
func (v Verdict) Fails() bool { return v == Regression || v == Wrong || v == Vanished }

// Undecided reports whether nothing is known about the change.
func (v Verdict) Undecided() bool {
	return v == New || v == Inconclusive || v == Infeasible
}

// Passes reports whether performance was shown to be kept or improved.
func (v Verdict) Passes() bool { return v == Improvement || v == Maintained }

// Decision is a verdict with what a person needs to know beside it.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	// Reason says why, in one sentence.
	Reason string `json:"reason"`
	// clear says that more rounds are not worth their time.
	clear bool
}

// Decide is a decision with its reason, which is formatted as by fmt.
func Decide(v Verdict, reason string, arguments ...any) Decision {
	return Decision{Verdict: v, Reason: fmt.Sprintf(reason, arguments...)}
}

// Arm is a side of a comparison.
type Arm string

// The arms. Control is the baseline measured once more as if it were a candidate;
// Best is the best accepted entry, measured only where it is not the
// baseline.
const (
	Baseline  Arm = "baseline"
	Candidate Arm = "candidate"
	Control   Arm = "control"
	Best      Arm = "best"
)

// Arms are what is compared, by name. Where there is no control, it is the baseline once more.
type Arms map[Arm]experiment.Arm

// Conditions are those of the device while each arm was measured; nil where unknown.
type Conditions map[Arm]*worker.Conditions

// Join returns them all together.
func (c Conditions) Join() (all *worker.Conditions) {
	for _, arm := range []Arm{Baseline, Candidate, Control, Best} {
		all = all.Join(c[arm])
	}
	return all
}

// Samples are the samples of each arm, by round.
type Samples map[Arm][][]float64

// rounds is how many rounds are complete.
func (s Samples) rounds() int { return len(s[Baseline]) }
