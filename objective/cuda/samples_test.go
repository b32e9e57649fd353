package cuda

import (
	"testing"
)

// clocks is a rig whose clock goes round a list of numbers, one for every sample
// that is taken, also while the kernel warms up.
func clocks(t *testing.T, rhythm string) *rig {
	t.Helper()
	return newRig(t, settings{
		management:  true,
		environment: map[string]string{"PAWL_FAKE_CLOCKS": rhythm},
	})
}

// What a figure that stands alone rests on was measured at the highest clock, as
// long as there is such a thing; who compares in turns takes what comes.
func TestSamplesAtTheHighestClock(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rhythm    string
		low, high int // clocks of all samples
		slow      bool
	}{
		"always":     {"1980", 1980, 1980, false},
		"sometimes":  {"1965 1980 1980", 1965, 1980, true},
		"nearly":     {"1974 1980", 1974, 1980, false}, // less than half a step
		"never":      {"1950", 1950, 1950, false},
		"hardly":     {"1980 1935 1935 1935 1935 1935 1935 1935 1935 1935", 1935, 1980, false},
		"every turn": {"1980 1935", 1935, 1980, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := clocks(t, test.rhythm)
			p := r.prepare("")
			alone, err := r.SampleAlone(t.Context(), p, 20)
			if err != nil || alone.Failure != nil {
				t.Fatalf("%+v, %v", alone, err)
			}
			c := alone.Conditions
			if c.ClockLow != test.low || c.ClockHigh != test.high || c.Slow > 0 != test.slow || c.Discarded != 0 {
				t.Errorf("%+v", c)
			}
			if test.slow && len(alone.Samples) != 20 || len(alone.Samples) < 20 {
				t.Errorf("%d samples", len(alone.Samples))
			}
			both, err := r.Sample(t.Context(), p, 20)
			if err != nil || both.Failure != nil || len(both.Samples) != 20 || both.Conditions.Slow != 0 {
				t.Errorf("in turns: %+v, %v", both, err)
			}
		})
	}
}

// A GPU whose clock never gets there is waited for once.
func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	r := clocks(t, "1950")
	p := r.prepare("")
	taken := func() int64 {
		_, before := r.worker()
		if outcome, err := r.SampleAlone(t.Context(), p, 10); err != nil || outcome.Failure != nil {
			t.Fatalf("%+v, %v", outcome, err)
		}
		_, after := r.worker()
		return after.GraphLaunches - before.GraphLaunches
	}
	r.passes("")
	first, second := taken(), taken()
	if first < 10*mostTries || second >= first-10 {
		t.Errorf("%d samples, then %d", first, second)
	}
}
