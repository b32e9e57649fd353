package winner

import (
	"strings"
	"testing"

	"pawl/gate"
	"pawl/objective"
)

// What can have moved a time follows from what differs: where the machine code is the same,
// neither code nor compiler can be the cause.
func TestCause(t *testing.T) {
	fact := func(names ...string) (facts []Fact) {
		for _, name := range names {
			facts = append(facts, Fact{What: name, Then: "a", Now: "b"})
		}
		return facts
	}
	slower := gate.Comparison{Decision: gate.Decision{Verdict: gate.Regression}}
	for _, c := range []struct {
		outcome Remeasured
		want    Cause
	}{
		{Remeasured{Comparison: slower}, Machine},
		{Remeasured{Comparison: slower, Facts: fact(factDriver)}, Driver},
		{Remeasured{Comparison: slower, Facts: fact(factCode, factMachine)}, Code},
		{Remeasured{Comparison: slower, Facts: fact(factCompiler, factMachine)}, Compiler},
		{Remeasured{Comparison: slower, Facts: fact(factFlags, factMachine)}, Compiler},
		{Remeasured{Comparison: slower, Facts: fact(factCode, factCompiler, factMachine, factDriver)}, Both},
		// a comment, and a compiler that makes the same of it
		{Remeasured{Comparison: slower, Facts: fact(factCode, factCompiler)}, Machine},
		{Remeasured{Failure: &objective.Failure{}, Facts: fact(factCode)}, Code},
		{Remeasured{
			Comparison: gate.Comparison{Decision: gate.Decision{Verdict: gate.NoDifference}},
			Facts:      fact(factCode, factMachine),
		}, Nothing},
		{Remeasured{
			Comparison: gate.Comparison{Decision: gate.Decision{Verdict: gate.Inconclusive}},
			Facts:      fact(factCode, factMachine),
		}, Nothing},
	} {
		if got := c.outcome.cause(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.outcome, got, c.want)
		}
	}
}

// Nothing decided is not the same as nothing changed.
func TestUndecidedSaysWhy(t *testing.T) {
	o := Remeasured{
		Then:       1,
		Now:        900,
		Comparison: gate.Comparison{Decision: gate.Decision{Verdict: gate.Inconclusive, Reason: "the machine drifted"}},
	}
	if got := o.Sentence(); !strings.Contains(got, "Nothing could be decided: the machine drifted.") ||
		strings.Contains(got, "No change") {
		t.Error(got)
	}
}
