package confirm

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pawl/objective"
	"pawl/search/trial"
	"pawl/space"
)

// device answers for points: what it is asked, in order, and what fails.
type device struct {
	asked   []string
	wrong   map[string]bool // fails the full check
	broken  map[string]bool // does not compile
	digest  string
	refresh int
}

func (d *device) Prepare(_ context.Context, p space.Point) (objective.Prepared, error) {
	prepared := objective.Prepared{Point: p}
	prepared.Binary.Digest = d.digest + p.String()
	if d.broken[p.String()] {
		prepared.Failure = &objective.Failure{Stage: objective.Compile, Reason: "refused"}
	}
	return prepared, nil
}

func (d *device) Verify(_ context.Context, p objective.Prepared) (*objective.Failure, error) {
	d.asked = append(d.asked, "verify "+p.Point.String())
	if d.wrong[p.Point.String()] {
		return &objective.Failure{Stage: objective.Fuzz, Reason: "wrong"}, nil
	}
	return nil, nil
}

func (d *device) Refresh() { d.refresh++ }

func (d *device) Sample(_ context.Context, p objective.Prepared, samples int) (objective.Outcome, error) {
	d.asked = append(d.asked, "sample "+p.Point.String())
	return objective.Outcome{Samples: slices.Repeat([]float64{1}, samples), Binary: p.Binary.Digest}, nil
}

func points(t *testing.T) []space.Point {
	t.Helper()
	var all []space.Point
	for _, text := range []string{"A=1", "A=2"} {
		p, err := space.ParsePoint(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// comparison is a study whose rounds are kept in memory.
type comparison struct {
	rounds []trial.Round
	stop   func() bool
	late   bool
}

func (c *comparison) Rounds() []trial.Round { return c.rounds }

func (c *comparison) Record(r trial.Round) error {
	c.rounds = append(c.rounds, r)
	return nil
}

func (c *comparison) Left() time.Duration {
	if c.late {
		return -1
	}
	return Unlimited
}

func (c *comparison) Stopped() bool { return c.stop != nil && c.stop() }

func (c *comparison) Progress(trial.Phase, int) {}

func (c *comparison) run(t *testing.T, d *device, rounds int) bool {
	t.Helper()
	d.asked = nil
	through, err := Compare(t.Context(), d, c, Options{Rounds: rounds, Samples: 2, Seed: 1, Lanes: 1},
		trial.Across, points(t)...)
	if err != nil {
		t.Fatal(err)
	}
	return through
}

func TestPointsAreComparedAfterTheFullCheck(t *testing.T) {
	var c comparison
	d := &device{}
	if !c.run(t, d, 4) || len(d.asked) != 2+8 || d.refresh != 2*4 ||
		!slices.Equal(d.asked[:2], []string{"verify A=1", "verify A=2"}) {
		t.Errorf("asked %v, refreshed %d times", d.asked, d.refresh)
	}
	contenders := Contenders(c.rounds, trial.Across)
	if len(contenders) != 2 || len(contenders[0].Rounds) != 4 {
		t.Errorf("%d contenders", len(contenders))
	}
	// All of it was measured: nothing is, and nothing is checked.
	if c.run(t, d, 4); len(d.asked) > 0 {
		t.Errorf("asked again: %v", d.asked)
	}
	// More rounds than that go on with it.
	if c.run(t, d, 5); len(Contenders(c.rounds, trial.Across)[0].Rounds) != 5 || len(c.rounds) != 8+2 {
		t.Errorf("%d rounds", len(c.rounds))
	}
	c.late = true
	if c.run(t, d, 50); len(d.asked) > 0 {
		t.Errorf("there is no time, and this was asked: %v", d.asked)
	}
}

func TestAComparisonThatWasStoppedGoesOn(t *testing.T) {
	d := &device{}
	c := comparison{}
	c.stop = func() bool { return len(c.rounds) == 3 }
	if c.run(t, d, 4) || len(c.rounds) != 3 {
		t.Errorf("through with %d rounds", len(c.rounds))
	}
	c.stop = nil
	if !c.run(t, d, 4) || len(Contenders(c.rounds, trial.Across)[0].Rounds) != 4 {
		t.Errorf("got %v", c.rounds)
	}
	if late := (&comparison{late: true}); !late.run(t, d, 10) || len(late.rounds) > 0 {
		t.Errorf("late, %d rounds", len(late.rounds))
	}
}

func TestWhatFailsIsRecordedAndNotMeasured(t *testing.T) {
	for name, d := range map[string]*device{
		"wrong":    {wrong: map[string]bool{"A=2": true}},
		"compiler": {broken: map[string]bool{"A=2": true}},
		"both":     {wrong: map[string]bool{"A=1": true}, broken: map[string]bool{"A=2": true}},
	} {
		c := comparison{}
		if !c.run(t, d, 4) || slices.ContainsFunc(d.asked, func(s string) bool { return s[0] == 's' }) {
			t.Errorf("%s: asked %v", name, d.asked)
		}
		want := 1
		if name == "both" {
			want = 2
		}
		if len(c.rounds) != want || c.rounds[want-1].Point.String() != "A=2" || c.rounds[want-1].Outcome.Failure == nil {
			t.Errorf("%s: recorded %v", name, c.rounds)
		}
		// It works now.
		if !c.run(t, &device{}, 4) || len(Contenders(c.rounds, trial.Across)) != 2 {
			t.Errorf("%s: not tried again: %v", name, c.rounds)
		}
		seen := map[string]bool{}
		for _, r := range c.rounds {
			key := fmt.Sprint(r.Number, r.Point)
			if seen[key] {
				t.Errorf("%s: two rounds %s", name, key)
			}
			seen[key] = true
		}
	}
}

func TestOtherMachineCodeIsNotTheSameComparison(t *testing.T) {
	c := comparison{}
	c.run(t, &device{}, 3)
	_, err := Compare(t.Context(), &device{digest: "new"}, &c, Options{Rounds: 3, Samples: 2, Lanes: 1},
		trial.Across, points(t)...)
	if err == nil {
		t.Error("measured before with other machine code")
	}
}
