package confirm

import (
	"slices"
	"strings"
	"testing"

	"pawl/search/trial"
	"pawl/space"
)

// field is a Compare of the phase Dispatch whose rounds are kept.
func (c *comparison) field(t *testing.T, d *device, rounds int, texts ...string) bool {
	t.Helper()
	d.asked = nil
	var all []space.Point
	for _, text := range texts {
		p, err := space.ParsePoint(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	through, err := Compare(t.Context(), d, c, Options{Rounds: rounds, Samples: 2, Seed: 1, Lanes: 2},
		trial.Dispatch, all...)
	if err != nil {
		t.Fatal(err)
	}
	return through
}

func count(asked []string, prefix string) (n int) {
	for _, text := range asked {
		if strings.HasPrefix(text, prefix) {
			n++
		}
	}
	return n
}

// Wherever a run is ended, the next one goes on: every whole round counts, and nothing that
// was measured is checked again.
func TestAFieldGoesOnWhereItWasEnded(t *testing.T) {
	names := []string{"A=1", "A=2", "A=3"}
	for end := range 12 {
		c, d := comparison{}, &device{}
		c.stop = func() bool { return len(c.rounds) == end }
		if c.field(t, d, 4, names...) {
			t.Errorf("ended after %d: through", end)
		}
		c.stop = nil
		if !c.field(t, d, 4, names...) {
			t.Errorf("ended after %d: not through", end)
		}
		contenders := Contenders(c.rounds, trial.Dispatch)
		// All rounds but the broken one are there once.
		if len(contenders) != 3 || len(contenders[0].Rounds) != 4 || len(c.rounds) != 12+end%3 {
			t.Errorf("ended after %d: %d contenders, %d measurements", end, len(contenders), len(c.rounds))
		}
		if checks := count(d.asked, "verify"); checks != max(0, 3-end) {
			t.Errorf("ended after %d: %d checked again", end, checks)
		}
	}
}

func TestAFieldLosesOnlyWhatFails(t *testing.T) {
	c, d := comparison{}, &device{wrong: map[string]bool{"A=2": true}, broken: map[string]bool{"A=3": true}}
	if !c.field(t, d, 3, "A=1", "A=2", "A=3", "A=4") || count(d.asked, "sample") != 6 {
		t.Errorf("asked %v", d.asked)
	}
	if !slices.Equal(c.points(), []string{"A=1", "A=4"}) {
		t.Errorf("contenders %v", c.points())
	}
	// Nothing of it is the study's own business.
	if own := trial.Standing(c.rounds, func(space.Point) bool { return false }); len(own) > 0 {
		t.Errorf("the study is told %v", own)
	}
	recorded := len(c.rounds)
	if c.field(t, d, 3, "A=1", "A=2", "A=3", "A=4"); count(d.asked, "sample") > 0 || len(c.rounds) != recorded {
		t.Errorf("asked again %v, %d rounds and then %d", d.asked, recorded, len(c.rounds))
	}
	// What works now contends, in a new run.
	if c.field(t, &device{}, 3, "A=1", "A=2", "A=3", "A=4"); len(Contenders(c.rounds, trial.Dispatch)) != 4 {
		t.Errorf("%d contenders", len(Contenders(c.rounds, trial.Dispatch)))
	}
	// A new candidate is measured with all others, and one that has gone takes its run along.
	if c.field(t, d, 3, "A=1", "A=4", "A=5"); !slices.Equal(c.points(), []string{"A=1", "A=4", "A=5"}) {
		t.Errorf("contenders %v", c.points())
	}
	if late := (&comparison{late: true}); !late.field(t, &device{}, 9, "A=1", "A=2") || len(late.rounds) > 0 {
		t.Errorf("late, %d rounds", len(late.rounds))
	}
}

func (c *comparison) points() (names []string) {
	for _, contender := range Contenders(c.rounds, trial.Dispatch) {
		names = append(names, contender.Point.String())
	}
	slices.Sort(names)
	return names
}
