package gate

import (
	"testing"

	"pawl/objective"
	"pawl/objective/worker"
)

// A hot machine is no fault of the candidate's.
func TestBroken(t *testing.T) {
	for reason, want := range map[string]Verdict{
		objective.Throttled:     Inconclusive,
		string(worker.NoMemory): Inconclusive,
		objective.WrongResult:   Wrong,
		string(worker.Hung):     Wrong,
		objective.TooFast:       Wrong,
	} {
		if got := Broken(&objective.Failure{Stage: objective.Bench, Reason: reason}); got.Verdict != want {
			t.Errorf("%s: %s, want %s", reason, got.Verdict, want)
		}
	}
}
