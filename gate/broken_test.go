package gate

import (
	"testing"

	"pawl/objective"
	"pawl/objective/worker"
)

// A hot machine is no fault of the candidate's, and what does not end in time has no
// result that could be wrong.
func TestBroken(t *testing.T) {
	for reason, want := range map[string]Verdict{
		objective.Throttled:      Inconclusive,
		string(worker.NoMemory):  Inconclusive,
		objective.Infeasible:     Infeasible,
		objective.CompileTimeout: Infeasible,
		string(worker.Hung):      Infeasible,
		objective.WrongResult:    Wrong,
		objective.CompileError:   Wrong,
		string(worker.Crashed):   Wrong,
		objective.TooFast:        Wrong,
	} {
		if got := Broken(&objective.Failure{Stage: objective.Bench, Reason: reason}); got.Verdict != want {
			t.Errorf("%s: %s, want %s", reason, got.Verdict, want)
		}
	}
}
