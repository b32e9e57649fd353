package objective

import (
	"testing"
	"time"

	"pawl/kernels"
	"pawl/objective/cache"
)

// aDay is a cache with a clock that a test turns.
type aDay struct {
	t       *testing.T
	cache   *cache.Cache
	instant time.Time
}

func newDay(t *testing.T) *aDay {
	c, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &aDay{t, c, time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
}

// fresh is a run of the program that has measured nothing yet.
func (d *aDay) fresh() *measurementCache {
	return measurementCacheAt(d.cache, func() time.Time { return d.instant },
		func() (string, error) { return "here", nil })
}

// run is a run of the program whose default takes so many milliseconds.
func (d *aDay) run(milliseconds float64) *measurementCache {
	r := d.fresh()
	r.remember(coded("default"), precise(milliseconds), true)
	return r
}

func coded(digest string) Prepared { return Prepared{Binary: Binary{Digest: digest}} }

func precise(milliseconds float64) Outcome {
	return Outcome{
		Samples: []float64{milliseconds, milliseconds, milliseconds, milliseconds, milliseconds},
		Batch:   7,
		Stop:    Precise,
	}
}

// knows tells what a run remembers of some machine code, 0 for nothing.
func (r *measurementCache) knows(digest string, incumbent float64) float64 {
	o, found := r.recall(coded(digest), incumbent, Stopping{})
	if !found {
		return 0
	}
	return o.Milliseconds()
}

func TestWhatWasMeasuredTodayIsRemembered(t *testing.T) {
	day := newDay(t)
	first := day.run(2)
	if first.knows("a", 0) != 0 {
		t.Error("remembered what was never measured")
	}
	first.remember(coded("a"), precise(1), false)
	o, found := day.run(2.01).recall(coded("a"), 0, Stopping{})
	if !found || o.Milliseconds() != 1 || o.Batch != 7 || o.Stop != Precise || len(o.Samples) != 5 {
		t.Errorf("the next run remembers %+v, %v", o, found)
	}
	if o := day.run(1.99).remember(coded("default"), precise(2.02), true); o.Milliseconds() != 2 || !o.Remembered {
		t.Errorf("the default takes %v ms, beside times of another run", o.Milliseconds())
	}
	if elsewhere := day.run(2); elsewhere.knows("b", 0) != 0 {
		t.Error("other machine code was taken for the same")
	}
	day.instant = day.instant.Add(24 * time.Hour)
	if day.run(2).knows("a", 0) != 0 {
		t.Error("remembered on the next day")
	}
}

// The default was measured before midnight. What others measured after it may be of another state of the machine.
func TestARunKeepsItsDayAfterMidnight(t *testing.T) {
	day := newDay(t)
	evening := day.run(2)
	day.instant = day.instant.Add(24 * time.Hour)
	day.run(4).remember(coded("a"), precise(1), false)
	if evening.knows("a", 0) != 0 {
		t.Error("trusts a measurement of the next day, whose default took twice as long")
	}
}

func TestNothingIsRememberedBeforeTheDefaultIsMeasured(t *testing.T) {
	day := newDay(t)
	day.run(2).remember(coded("a"), precise(1), false)
	resumed := day.fresh()
	if resumed.knows("a", 0) != 0 {
		t.Error("remembered, whatever the machine's state is")
	}
	resumed.remember(coded("b"), precise(3), false)
	if day.run(2).knows("b", 0) != 0 {
		t.Error("kept, whatever the machine's state was")
	}
}

// A machine that runs at another speed than in the morning does not mix its times
// with those of the morning, neither way.
func TestTimesOfTwoStatesAreNotMixed(t *testing.T) {
	day := newDay(t)
	day.run(2).remember(coded("a"), precise(1), false)
	slow := day.run(2.2)
	if slow.knows("a", 0) != 0 {
		t.Error("a slow machine remembers the times of a fast one")
	}
	slow.remember(coded("b"), precise(3), false)
	again := day.run(2)
	if again.knows("a", 0) != 1 || again.knows("b", 0) != 0 {
		t.Errorf("later: %v of the same state, %v of the slow one", again.knows("a", 0), again.knows("b", 0))
	}
}

func TestOnlyWhatSaysEnoughIsRemembered(t *testing.T) {
	day := newDay(t)
	r := day.run(2)
	vague := precise(1)
	vague.Stop = Ceiling
	failed := Outcome{Failure: &Failure{Stage: Fuzz, Reason: WrongResult}, Stop: Precise}
	r.remember(coded("vague"), vague, false)
	r.remember(coded("failed"), failed, false)
	hopeless := Outcome{Samples: []float64{4, 5, 6, 7, 8}, Stop: Hopeless}
	r.remember(coded("hopeless"), hopeless, false)
	if r.knows("vague", 0) != 0 || r.knows("failed", 0) != 0 {
		t.Error("remembered what is not known well")
	}
	if r.knows("hopeless", 1) != 6 {
		t.Error("forgot what is hopeless")
	}
	if r.knows("hopeless", 3.9) != 0 {
		t.Error("a few samples are enough of a point that may win")
	}
}

// The key covers what a measurement depends on.
func TestCircumstances(t *testing.T) {
	k, err := kernels.Load("matmul", kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	w, err := k.Workload("")
	if err != nil {
		t.Fatal(err)
	}
	of := func(device string, options Options) string {
		e := NewEvaluator(k, w, described{device: device}, options)
		text, err := e.circumstances()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	plain := of("A", Options{})
	if plain != of("A", Options{}) {
		t.Error("the same circumstances differ")
	}
	for what, other := range map[string]string{
		"the device": of("B", Options{}), "the seed": of("A", Options{Seed: 5}),
		"the caches": of("A", Options{Caches: "cold"}), "the stopping rule": of("A", Options{Stopping: Stopping{Floor: 9}}),
	} {
		if other == plain {
			t.Errorf("%s does not count", what)
		}
	}
}

// described is a backend of which nothing but a description is needed.
type described struct {
	Backend
	device string
}

func (d described) Facts() Facts { return Facts{Environment: Environment{Device: d.device}} }
