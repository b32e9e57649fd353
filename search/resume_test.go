package search_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"pawl/objective"
	"pawl/search"
	"pawl/search/replay"
	"pawl/search/trial"
	"pawl/space"
)

// watcher notes the incumbents that points are measured against, and whether a
// preparation is still under way when the confirmation begins.
type watcher struct {
	*replay.Evaluator
	mu         sync.Mutex
	incumbents []float64
	preparing  int
	late       bool
	// wanted are the points whose preparation goes ahead; the others wait until
	// their context ends. Nil is all.
	wanted map[space.Point]bool
}

func (w *watcher) Prepare(ctx context.Context, p space.Point) (objective.Prepared, error) {
	w.mu.Lock()
	w.preparing++
	w.mu.Unlock()
	if w.wanted != nil && !w.wanted[p] {
		<-ctx.Done()
	}
	defer func() {
		w.mu.Lock()
		w.preparing--
		w.mu.Unlock()
	}()
	return w.Evaluator.Prepare(ctx, p)
}

func (w *watcher) Measure(ctx context.Context, p objective.Prepared, incumbent float64) (objective.Outcome, error) {
	w.mu.Lock()
	w.incumbents = append(w.incumbents, incumbent)
	w.mu.Unlock()
	return w.Evaluator.Measure(ctx, p, incumbent)
}

func (w *watcher) Verify(ctx context.Context, p objective.Prepared) (*objective.Failure, error) {
	w.mu.Lock()
	w.late = w.late || w.preparing > 0
	w.mu.Unlock()
	return w.Evaluator.Verify(ctx, p)
}

// A resumed study knows the time to beat from its first measurement on.
func TestResumeRemembersTheIncumbent(t *testing.T) {
	s := recordedSpace(t)
	options := search.Options{Sampler: "random", Seed: 1, Goals: trial.Goals{Trials: 20, Rounds: 1}}
	first, err := search.Run(t.Context(), s.Pool(), replay.NewEvaluator(s, 1), &memory{}, trial.Past{}, options)
	if err != nil {
		t.Fatal(err)
	}
	best := 0.0
	for _, trial := range trial.Ranking(first.Trials)[:1] {
		best = trial.Outcome.Milliseconds()
	}
	w := &watcher{Evaluator: replay.NewEvaluator(s, 1)}
	options.Trials = 23
	if _, err := search.Run(t.Context(), s.Pool(), w, &memory{trials: slices.Clone(first.Trials)},
		trial.Past{Trials: first.Trials}, options); err != nil {
		t.Fatal(err)
	}
	if len(w.incumbents) == 0 || w.incumbents[0] != best {
		t.Errorf("incumbents %v, the best before was %v", w.incumbents, best)
	}
}

// What was asked and not needed does not disturb the confirmation.
func TestNothingIsPreparedDuringTheConfirmation(t *testing.T) {
	s := recordedSpace(t)
	options := search.Options{
		Sampler: "random",
		Seed:    1,
		Lanes:   8,
		Goals:   trial.Goals{Trials: 40, Rounds: 1, Target: 1.0001},
	}
	plain, err := search.Run(t.Context(), s.Pool(), replay.NewEvaluator(s, 1), &memory{}, trial.Past{}, options)
	if err != nil || plain.Ended != trial.TargetMet {
		t.Fatalf("%v, ended %q", err, plain.Ended)
	}
	// What the search comes to use, and the confirmation prepares again, goes
	// ahead; the rest is held until it is abandoned.
	wanted := map[space.Point]bool{}
	for _, trial := range plain.Trials {
		if trial.Finished {
			wanted[trial.Point] = true
		}
	}
	if len(wanted) == len(plain.Trials) {
		t.Fatal("nothing was abandoned")
	}
	w := &watcher{Evaluator: replay.NewEvaluator(s, 1), wanted: wanted}
	result, err := search.Run(t.Context(), s.Pool(), w, &memory{}, trial.Past{}, options)
	if err != nil || result.Ended != trial.TargetMet || w.late {
		t.Errorf("%v, ended %q, preparing during the confirmation: %v", err, result.Ended, w.late)
	}
}
