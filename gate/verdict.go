package gate

// Verdict is the answer to whether a change may land.
type Verdict string

// The verdicts.
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
	// New: there was nothing to compare with.
	New Verdict = "new"
	// Wrong: the results are wrong, whatever the speed.
	Wrong Verdict = "wrong"
	// Inconclusive: the measurement cannot answer; the reason says why.
	Inconclusive Verdict = "inconclusive"
)

// Verdicts lists all verdicts in the order of reports.
var Verdicts = []Verdict{Wrong, Regression, Improvement, Maintained, NoDifference, New, Inconclusive}

// Fails reports whether a change with this verdict must not land.
func (v Verdict) Fails() bool { return v == Regression || v == Wrong }

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
