package cuda

import (
	"os"
	"path/filepath"
	"testing"

	"pawl/objective"
	"pawl/objective/cuda/monitor"
)

// A point that is far behind after the launches which a batch is chosen by is not measured further, if the
// clock is known to be no excuse. A launch takes 5 ms.
func TestHopelessAtFirstLook(t *testing.T) {
	t.Parallel()
	clock := filepath.Join(t.TempDir(), "clock")
	r := newRig(t, settings{management: true, environment: map[string]string{"PAWL_FAKE_CLOCK": clock}})
	measure := func(name, point, mhz string, incumbent float64, want int) {
		t.Helper()
		if err := os.WriteFile(clock, []byte(mhz), 0o600); err != nil {
			t.Fatal(err)
		}
		outcome, err := r.Measure(t.Context(), r.prepare(point), incumbent)
		if err != nil || outcome.Failure != nil {
			t.Fatalf("%s: %v, %v", name, outcome.Failure, err)
		}
		if len(outcome.Samples) != want || outcome.Batch != 1 || outcome.Stop != objective.Hopeless ||
			outcome.Conditions == nil {
			t.Errorf("%s: %d samples, want %d: %+v", name, len(outcome.Samples), want, outcome)
		}
	}
	measure("a worker that has not seen the full clock", "TIME=5000000", "1980", 3, 5)
	measure("far behind", "TIME=5000000,NUMBER=1", "1980", 3, 3)
	measure("behind", "TIME=5000000", "1980", 3.9, 5)
	measure("at half the clock", "TIME=5000000,NUMBER=1", "990", 3, 5)
	measure("even at half the clock", "TIME=5000000", "990", 1.6, 3)
}

func TestNoFirstLookWithoutAClock(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	r.passes("")
	outcome, err := r.Measure(t.Context(), r.prepare("TIME=5000000"), 1)
	if err != nil || len(outcome.Samples) != 5 || outcome.Stop != objective.Hopeless {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// Under the power limit the clock falls as long as the GPU works.
func TestSettledClock(t *testing.T) {
	for _, test := range []struct {
		state monitor.State
		want  bool
	}{
		{monitor.State{SMClock: 1965}, true},
		{monitor.State{SMClock: 1900}, false},
		{monitor.State{SMClock: 345, Reasons: monitor.Idle}, false},
		{monitor.State{SMClock: 1605, Reasons: monitor.SoftwarePowerCap}, true},
	} {
		if got := settled(test.state, 1980); got != test.want {
			t.Errorf("%+v: %v", test.state, got)
		}
	}
}
