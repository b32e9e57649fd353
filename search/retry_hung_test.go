package search_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"pawl/objective"
	"pawl/objective/worker"
	"pawl/search"
	"pawl/search/confirm"
	"pawl/search/replay"
	"pawl/search/trial"
)

// stopping hangs the first few times that something is asked about each point.
type stopping struct {
	*replay.Evaluator
	mu    sync.Mutex
	times int
	asked map[string]int
	// reference says that it is the reference that hangs, which is an error.
	reference bool
}

func (s *stopping) hangs(what string, p objective.Prepared) (*objective.Failure, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := what + p.Point.String()
	s.asked[key]++
	switch {
	case s.asked[key] > s.times:
		return nil, nil
	case s.reference:
		return nil, fmt.Errorf("reference: %w", &worker.Fault{Kind: worker.Hung})
	}
	return &objective.Failure{Stage: objective.Fuzz, Reason: string(worker.Hung)}, nil
}

func (s *stopping) Measure(ctx context.Context, p objective.Prepared, incumbent float64) (objective.Outcome, error) {
	if failure, err := s.hangs("measure", p); failure != nil || err != nil {
		return objective.Outcome{Failure: failure}, err
	}
	return s.Evaluator.Measure(ctx, p, incumbent)
}

func (s *stopping) Sample(ctx context.Context, p objective.Prepared, samples int) (objective.Outcome, error) {
	if failure, err := s.hangs("sample", p); failure != nil || err != nil {
		return objective.Outcome{Failure: failure}, err
	}
	return s.Evaluator.Sample(ctx, p, samples)
}

func (s *stopping) Verify(ctx context.Context, p objective.Prepared) (*objective.Failure, error) {
	if failure, err := s.hangs("verify", p); failure != nil || err != nil {
		return failure, err
	}
	return s.Evaluator.Verify(ctx, p)
}

// A point that hangs once is tried once more, wherever that happens; one that hangs
// twice has failed.
func TestAPauseCostsNoPoint(t *testing.T) {
	s := recordedSpace(t)
	run := func(times int, reference bool) (trial.Past, error) {
		evaluator := &stopping{
			Evaluator: replay.NewEvaluator(s, 1),
			times:     times,
			asked:     map[string]int{},
			reference: reference,
		}
		return search.Run(t.Context(), s.Pool(), evaluator, &memory{}, trial.Past{},
			search.Options{Sampler: "random", Seed: 2, Goals: trial.Goals{Trials: 12, Rounds: 3}})
	}
	calm, err := run(0, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, reference := range []bool{false, true} {
		paused, err := run(1, reference)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(trial.Ranking(paused.Trials)), len(trial.Ranking(calm.Trials)); got != want {
			t.Errorf("%d trials have a time, %d without pauses", got, want)
		}
		if got, want := len(confirm.Contenders(paused.Rounds, trial.Confirmation)),
			len(confirm.Contenders(calm.Rounds, trial.Confirmation)); got != want {
			t.Errorf("%d contenders, %d without pauses", got, want)
		}
	}
	hopeless, err := run(2, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range hopeless.Trials {
		if trial.OK() || trial.Outcome.Failure.Reason != string(worker.Hung) {
			t.Errorf("%s hung twice: %v", trial.Point, trial.Outcome.Failure)
		}
	}
}
