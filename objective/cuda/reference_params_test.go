package cuda

import (
	"math"
	"testing"

	"pawl/objective"
	"pawl/objective/check"
)

// A GPU that keeps right answers keeps them for every value of a parameter that the result
// depends on, and the time is of one step.
func TestReferenceSeesTheParametersThatMeanSomething(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{kernel: "steps"})
	for _, c := range []struct {
		point string
		steps float64
	}{{"", 1}, {"STEPS=3", 3}, {"STEPS=2", 2}, {"STEPS=3", 3}} {
		outcome := r.passes(c.point)
		if math.Abs(outcome.Milliseconds()-0.01/c.steps) > 1e-6 {
			t.Errorf("%s: %g ms a step", c.point, outcome.Milliseconds())
		}
		if outcome.Measured[objective.WorkFlops] != 1000*c.steps {
			t.Errorf("%s: %v", c.point, outcome.Measured)
		}
		if failure, err := r.Verify(t.Context(), r.prepare(c.point)); failure != nil || err != nil {
			t.Errorf("%s: %v, %v", c.point, failure, err)
		}
		if err := r.Anticipate(t.Context(), r.prepare(c.point).Point); err != nil {
			t.Error(err)
		}
	}
	r.fails("STEPS=2,LAZY=1", objective.Fuzz, string(check.WrongResult))
	r.fails("LAZY=1", objective.Fuzz, string(check.WrongResult))
}
