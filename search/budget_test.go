package search_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pawl/objective"
	"pawl/search"
	"pawl/search/confirm"
	"pawl/search/replay"
	"pawl/search/trial"
	"pawl/space"
)

// program is an evaluator whose runs take their time, on the clock of the test.
type program struct {
	search.Evaluator
	run     time.Duration
	hang    space.Point // which never ends
	full    int         // runs of a full check
	checked map[space.Point]bool
}

// pass lets runs take place.
func (p program) pass(ctx context.Context, point space.Point, runs int) error {
	took := time.Duration(runs) * p.run
	if point == p.hang {
		took = time.Hour
	}
	select {
	case <-time.After(took):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p program) Measure(ctx context.Context, point objective.Prepared,
	incumbent float64) (objective.Outcome, error) {
	outcome, err := p.Evaluator.Measure(ctx, point, incumbent)
	if err != nil || outcome.Failure != nil {
		return outcome, err
	}
	runs := 5
	if p.run > time.Second { // one is a measurement
		runs = 1
	}
	outcome.Samples = outcome.Samples[:runs]
	outcome.Spent.Check, outcome.Spent.Measure = p.run, time.Duration(runs)*p.run
	return outcome, p.pass(ctx, point.Point, 1+runs)
}

// Verify checks no point twice, as the real one.
func (p program) Verify(ctx context.Context, point objective.Prepared) (*objective.Failure, error) {
	if p.checked[point.Point] {
		return nil, nil
	}
	err := p.pass(ctx, point.Point, p.full)
	p.checked[point.Point] = err == nil
	return nil, err
}

func (p program) Sample(ctx context.Context, point objective.Prepared, samples int) (objective.Outcome, error) {
	outcome, err := p.Evaluator.Sample(ctx, point, samples)
	if err == nil {
		err = p.pass(ctx, point.Point, samples)
	}
	return outcome, err
}

// Whatever runs, the end comes when it was promised; the rounds of an interval are paid for where runs allow it.
func TestABudgetIsAPromise(t *testing.T) {
	s := recordedSpace(t)
	for name, c := range map[string]struct {
		run, budget time.Duration
		full        int // runs of a full check, 1 if it is none
		hang        space.Point
		rounds      int // at least
		plan        string
	}{
		"short":  {run: 10 * time.Millisecond, budget: 45 * time.Second, rounds: 8},
		"medium": {run: 300 * time.Millisecond, budget: 30 * time.Second, rounds: 6},
		"long": {run: 2 * time.Second, budget: 60 * time.Second, rounds: 6,
			plan: "the default's trial took "},
		"too long": {run: 20 * time.Second, budget: 100 * time.Second,
			plan: ", and none is left to confirm a winner: give it --budget 10m0s or more"},
		// Confirming takes a full check of the best, 12 runs and little else.
		"long check":    {run: 100 * time.Millisecond, budget: 20 * time.Second, full: 50, rounds: 6},
		"endless check": {run: 100 * time.Millisecond, budget: 20 * time.Second, full: 100},
		"hanging":       {run: 10 * time.Millisecond, budget: 45 * time.Second, rounds: 8, hang: s.Optimum().Point},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun, plan := time.Now(), ""
			result, err := search.Run(t.Context(), s.Pool(),
				program{
					Evaluator: replay.NewEvaluator(s, 1), run: c.run, hang: c.hang, full: max(1, c.full),
					checked: map[space.Point]bool{},
				}, &memory{}, trial.Past{},
				search.Options{Sampler: "random", Seed: 1, Goals: trial.Goals{Budget: c.budget}, Observe: func(p search.Progress) {
					plan += p.Plan
				}})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if took := time.Since(begun); took > c.budget*11/10 || took < c.budget/4 {
				t.Errorf("%s: %v for a budget of %v", name, took, c.budget)
			}
			rounds := 0
			if contenders := confirm.Contenders(result.Rounds, trial.Confirmation); len(contenders) > 0 {
				rounds = len(contenders[0].Rounds)
			}
			if rounds < c.rounds || !strings.Contains(plan, c.plan) || c.plan == "" && c.run < time.Second/10 && plan != "" {
				t.Errorf("%s: %d rounds, %q", name, rounds, plan)
			}
		})
	}
}

// deaf answers nothing after the first points, as a farm whose machines are gone.
type deaf struct {
	search.Evaluator
	answers *atomic.Int32
	stop    func()
}

func (d deaf) Measure(ctx context.Context, p objective.Prepared, incumbent float64) (objective.Outcome, error) {
	if d.answers.Add(-1) < 0 {
		d.stop()
		<-ctx.Done()
		return objective.Outcome{}, context.Cause(ctx)
	}
	return d.Evaluator.Measure(ctx, p, incumbent)
}

// Who stops a search waits for no answer that does not come; what was found is there.
func TestStoppedWithoutAnAnswer(t *testing.T) {
	s := recordedSpace(t)
	synctest.Test(t, func(t *testing.T) {
		stop, answers, begun := make(chan struct{}), new(atomic.Int32), time.Now()
		answers.Store(5)
		evaluator := deaf{replay.NewEvaluator(s, 1), answers, sync.OnceFunc(func() { close(stop) })}
		result, err := search.Run(t.Context(), s.Pool(), evaluator, &memory{}, trial.Past{},
			search.Options{Sampler: "random", Seed: 1, Goals: trial.Goals{Trials: 50}, Stop: stop})
		finished := 0
		for _, tried := range result.Trials {
			if tried.Finished {
				finished++
			}
		}
		if took := time.Since(begun); err != nil || result.Ended != trial.Stopped || finished != 5 || took > time.Minute {
			t.Errorf("%q after %d trials and %v: %v", result.Ended, finished, took, err)
		}
	})
}

// suspect is an evaluator that finds a point wrong in its full check.
type suspect struct {
	search.Evaluator
	wrong space.Point
	found func(checked space.Point)
}

func (s suspect) Verify(_ context.Context, p objective.Prepared) (*objective.Failure, error) {
	s.found(p.Point)
	if p.Point == s.wrong {
		return &objective.Failure{Stage: objective.Fuzz, Reason: "wrong"}, nil
	}
	return nil, nil
}

// Where there is a budget, a default that fails its full check is found before another trial ends.
func TestAWrongDefaultIsFoundFirst(t *testing.T) {
	s := recordedSpace(t)
	m, finished := &memory{}, -1
	evaluator := suspect{replay.NewEvaluator(s, 1), s.Pool().Space().Default(), func(checked space.Point) {
		if checked == s.Pool().Space().Default() && finished < 0 {
			finished = 0
			for _, tried := range m.trials {
				if tried.Finished {
					finished++
				}
			}
		}
	}}
	_, err := search.Run(t.Context(), s.Pool(), evaluator, m, trial.Past{},
		search.Options{Sampler: "random", Seed: 1, Goals: trial.Goals{Trials: 8, Budget: time.Minute}})
	if err != nil || finished != 1 || len(m.disqualified) != 1 {
		t.Errorf("found after %d trials, disqualified %v: %v", finished, m.disqualified, err)
	}
}
