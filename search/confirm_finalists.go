package search

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"pawl/internal/collect"
	"pawl/objective"
	"pawl/search/confirm"
	"pawl/search/trial"
	"pawl/space"
)

func (e *engine) Pool() *space.Pool                      { return e.study.pool }
func (e *engine) Trials() []trial.Trial                  { return e.study.trials }
func (e *engine) Rounds() []trial.Round                  { return e.rounds }
func (e *engine) Left() time.Duration                    { return e.budget.left() }
func (e *engine) Stopped() bool                          { return e.options.stopped() }
func (e *engine) Progress(phase trial.Phase, rounds int) { e.observer.round(phase, rounds) }

// Record makes a round durable.
func (e *engine) Record(round trial.Round) error {
	if err := e.recorder.Measured(round); err != nil {
		return fmt.Errorf("recording round %d of the %s: %w", round.Number, round.Phase, err)
	}
	e.rounds = append(e.rounds, round)
	return nil
}

// Disqualify takes a trial that passed the quick check out of the running, and those with its machine code.
func (e *engine) Disqualify(number int, failure *objective.Failure) error {
	code := e.study.trials[number].Outcome.Binary
	for _, t := range e.study.trials {
		if t.Number != number && !(t.OK() && t.Outcome.Binary == code && code != "") {
			continue
		}
		if err := e.study.disqualify(t.Number, failure); err != nil {
			return err
		}
		e.observer.failures[failure.Reason]++
	}
	return nil
}

// Check checks a point as a trial would, unless it was one.
func (e *engine) Check(ctx context.Context, p objective.Prepared) (objective.Outcome, error) {
	same := func(t trial.Trial) bool { return t.Finished && t.Point == p.Point }
	if known, there := collect.First(e.study.trials, same); there {
		return known.Outcome, confirm.SameBinary(known.Outcome, p)
	}
	return e.pipeline.evaluation(p)(ctx)
}

// confirmation is what may be confirmed, and how.
func (e *engine) confirmation() (candidates []confirm.Candidate, options confirm.Options) {
	for _, number := range e.second.ranked() {
		t := e.study.trials[number]
		cost := e.budget.cost(t)
		t.Outcome.Samples = e.second.all(t)
		candidates = append(candidates, confirm.Candidate{Trial: t, Cost: cost})
	}
	return candidates, confirm.Options{
		Finalists: e.options.Finalists, Rounds: e.options.Rounds, Samples: e.options.Samples,
		Seed: cmp.Or(e.options.OrderSeed, e.options.Seed), Lanes: e.options.Lanes, Kinds: e.options.Kinds,
	}
}
