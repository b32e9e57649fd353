package search

import (
	"pawl/objective"
	"pawl/search/trial"
)

// twins has, for each machine code, the first trial that ran it, or the one that was disqualified: what compiles to the
// same code is not measured again.
type twins map[string]int

func (t twins) add(one trial.Trial) {
	ran := one.OK() || one.Outcome.Failure.Stage == objective.Fuzz
	if _, met := t[one.Outcome.Binary]; !met && ran && one.Outcome.Binary != "" {
		t[one.Outcome.Binary] = one.Number
	}
}

// disqualify has others with this code take over its failure.
func (t twins) disqualify(one trial.Trial) {
	if _, met := t[one.Outcome.Binary]; met {
		t[one.Outcome.Binary] = one.Number
	}
}

// outcome is that of an earlier trial, for a point that compiles to the same code.
func (t twins) outcome(point objective.Prepared, trials []trial.Trial) (outcome objective.Outcome, found bool) {
	twin, found := t[point.Binary.Digest]
	if !found || point.Failure != nil {
		return outcome, false
	}
	outcome = trials[twin].Outcome
	outcome.SameAs, outcome.Spent = trials[twin].Point.String(), point.Spent
	return outcome, true
}
