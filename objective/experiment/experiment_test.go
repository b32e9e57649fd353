package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pawl/internal/stats"
	"pawl/objective"
)

// bench is a machine on which arms take a time, and which is throttled or broken at some calls.
type bench struct {
	calls     []string
	throttled map[int]bool
	fails     map[string]int // from which call of the arm on
	broken    error
	clock     time.Time
	count     map[string]int
}

type arm struct {
	*bench
	name string
	time float64
}

func (a arm) String() string { return a.name }

func (a arm) Renew() { a.calls = append(a.calls, "renew "+a.name) }

func (a arm) Sample(_ context.Context, samples int) (objective.Outcome, error) {
	if a.broken != nil {
		return objective.Outcome{}, a.broken
	}
	a.calls = append(a.calls, fmt.Sprintf("%s×%d", a.name, samples))
	a.clock = a.clock.Add(time.Second)
	if a.count == nil {
		a.count = map[string]int{}
	}
	a.count[""]++
	a.count[a.name]++
	switch from, fails := a.fails[a.name]; {
	case a.throttled[a.count[""]]:
		return objective.Outcome{Failure: &objective.Failure{Stage: objective.Bench, Reason: objective.Throttled}}, nil
	case fails && a.count[a.name] >= from:
		return objective.Outcome{Failure: &objective.Failure{Stage: objective.Fuzz, Reason: "wrong"}}, nil
	}
	return objective.Outcome{Samples: slices.Repeat([]float64{a.time}, samples)}, nil
}

func arms(b *bench) *Experiment {
	return &Experiment{
		Arms: []Arm{arm{b, "a", 1}, arm{b, "b", 2}, arm{b, "c", 3}}, Seed: 7,
		Now: func() time.Time { return b.clock },
	}
}

func run(t *testing.T, e *Experiment, rounds, samples int) []Round {
	t.Helper()
	found, err := e.Run(t.Context(), Fixed{Rounds: rounds, Samples: samples})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Every round renews all arms before it samples the first, and six rounds of three arms have all six orders.
func TestRoundsComeInPermutedBlocks(t *testing.T) {
	b := &bench{}
	rounds := run(t, arms(b), 6, 4)
	seen := map[string]bool{}
	for i, r := range rounds {
		seen[fmt.Sprint(r.Order())] = true
		if !slices.Equal(r.Order(), stats.NewOrders(3, 7, 0).Round(i)) {
			t.Errorf("round %d has the order %v", i, r.Order())
		}
		if r.Took != 3*time.Second || len(r.Times(2)) != 4 || r.Times(2)[0] != 3 || r.Samples[0].Took != time.Second {
			t.Errorf("%+v", r)
		}
		if calls := b.calls[6*i : 6*i+3]; !slices.Equal(calls, []string{"renew a", "renew b", "renew c"}) {
			t.Errorf("round %d begins with %v", i, calls)
		}
	}
	if len(rounds) != 6 || len(seen) != 6 {
		t.Errorf("%d rounds with %d orders", len(rounds), len(seen))
	}
}

// A guest changes nothing in the order of the others, and stands at every place.
func TestGuestsLeaveTheDesignAlone(t *testing.T) {
	places := map[int]int{}
	for seed := range uint64(50) {
		e := arms(&bench{})
		e.Seed, e.Guests = seed+1, 1
		for i, r := range run(t, e, 2, 1) {
			others := slices.DeleteFunc(r.Order(), func(arm int) bool { return arm == 2 })
			if !slices.Equal(others, stats.NewOrders(2, seed+1, 0).Round(i)) {
				t.Fatalf("seed %d, round %d: %v", seed+1, i, others)
			}
			places[slices.Index(r.Order(), 2)]++
		}
	}
	for place := range 3 {
		if places[place] < 15 { // of 100, a third each
			t.Errorf("%d times at place %d", places[place], place)
		}
	}
}

// A throttled round counts for nobody and is measured again in its order.
func TestAThrottledRoundIsMeasuredAgain(t *testing.T) {
	b := &bench{throttled: map[int]bool{5: true}}
	var recorded []Sample
	e := arms(b)
	e.Record = func(s Sample) error { recorded = append(recorded, s); return nil }
	rounds := run(t, e, 3, 1)
	if len(rounds) != 3 || len(recorded) != 3+2+3+3 || recorded[4].Outcome.Failure == nil {
		t.Fatalf("%d rounds, %d samples", len(rounds), len(recorded))
	}
	if order := rounds[1].Order(); recorded[3].Arm != order[0] || recorded[5].Arm != order[0] {
		t.Errorf("order %v, but %d and then %d were first", order, recorded[3].Arm, recorded[5].Arm)
	}
}

// A device that is always throttled ends the experiment, as a failure where all arms are needed.
func TestADeviceThatIsAlwaysThrottled(t *testing.T) {
	for _, needed := range []bool{false, true} {
		b := &bench{throttled: map[int]bool{}}
		for i := range 100 {
			b.throttled[i] = true
		}
		e := arms(b)
		e.AllNeeded = needed
		rounds, err := e.Run(t.Context(), Fixed{Rounds: 3, Samples: 1})
		failed, is := errors.AsType[*Failed](err)
		if len(rounds) > 0 || is != needed || is && failed.Failure.Reason != objective.Throttled || b.count[""] != patience {
			t.Errorf("all needed %t: %d rounds after %d samples, %v", needed, len(rounds), b.count[""], err)
		}
	}
}

// An arm that fails is out and the others go on, or the experiment ends at once.
func TestAnArmThatFailsIsOut(t *testing.T) {
	b := &bench{fails: map[string]int{"b": 2}}
	rounds := run(t, arms(b), 4, 1)
	if len(rounds) != 4 || b.count["b"] != 2 || b.count["a"] != 4 || rounds[0].Times(1) == nil ||
		rounds[1].Times(1) != nil || rounds[3].Times(1) != nil {
		t.Errorf("%v", b.count)
	}
	b = &bench{fails: map[string]int{"b": 2}}
	e := arms(b)
	e.AllNeeded = true
	rounds, err := e.Run(t.Context(), Fixed{Rounds: 4, Samples: 1})
	failed, is := errors.AsType[*Failed](err)
	if !is || failed.Arm != 1 || len(rounds) != 1 || err.Error() != "b itself fails: fuzz: wrong" {
		t.Errorf("%d rounds, %v", len(rounds), err)
	}
	// Nobody is left.
	b = &bench{fails: map[string]int{"a": 1, "b": 1, "c": 1}}
	if rounds := run(t, arms(b), 4, 1); len(rounds) != 1 || b.count[""] != 3 {
		t.Errorf("%d rounds, %v", len(rounds), b.count)
	}
}

// What breaks, and whoever stops, ends it with the rounds that there are.
func TestWhatEndsAnExperiment(t *testing.T) {
	b := &bench{}
	e := arms(b)
	e.Stopped = func() bool { return b.count[""] >= 4 }
	if rounds, err := e.Run(t.Context(), Fixed{Rounds: 4, Samples: 1}); len(rounds) != 1 || !errors.Is(err, ErrStopped) {
		t.Errorf("%d rounds, %v", len(rounds), err)
	}
	full := errors.New("disk full")
	e = arms(b)
	e.Record = func(Sample) error { return full }
	if rounds, err := e.Run(t.Context(), Fixed{Rounds: 4, Samples: 1}); len(rounds) != 0 || !errors.Is(err, full) {
		t.Errorf("%d rounds, %v", len(rounds), err)
	}
	e = arms(&bench{broken: full})
	if _, err := e.Run(t.Context(), Fixed{Rounds: 4, Samples: 1}); !errors.Is(err, full) {
		t.Error(err)
	}
}
