package search

import (
	"context"
	"errors"
	"time"

	"pawl/objective"
	"pawl/objective/worker"
)

// retryHung asks an evaluator once more about a point that ran out of time. A process
// that is stopped for half a minute, by a debugger or with its machine, looks from
// outside like one that hangs, and a good point must not be lost for good over it. A
// point that really hangs costs its time limit twice. Compilers that hardly ran are started again by
// objective/worker.
//
// What is said of a point after its context has ended is no answer: the work was cut short.
type retryHung struct{ Evaluator }

// RetryHung returns an evaluator that asks once more about a point that ran out of time.
func RetryHung(e Evaluator) Evaluator { return retryHung{e} }

func (p retryHung) Measure(ctx context.Context, prepared objective.Prepared,
	incumbent float64) (objective.Outcome, error) {
	outcome, err := p.Evaluator.Measure(ctx, prepared, incumbent)
	if !hung(ctx, outcome.Failure, err) {
		return outcome, whole(ctx, err)
	}
	again, err := p.Evaluator.Measure(ctx, prepared, incumbent)
	again.Spent.Check += outcome.Spent.Check
	again.Spent.Measure += outcome.Spent.Measure
	return again, whole(ctx, err)
}

func (p retryHung) Sample(ctx context.Context, prepared objective.Prepared, samples int) (objective.Outcome, error) {
	outcome, err := p.Evaluator.Sample(ctx, prepared, samples)
	if hung(ctx, outcome.Failure, err) {
		outcome, err = p.Evaluator.Sample(ctx, prepared, samples)
	}
	return outcome, whole(ctx, err)
}

func (p retryHung) Verify(ctx context.Context, prepared objective.Prepared) (*objective.Failure, error) {
	failure, err := p.Evaluator.Verify(ctx, prepared)
	if hung(ctx, failure, err) {
		failure, err = p.Evaluator.Verify(ctx, prepared)
	}
	return failure, whole(ctx, err)
}

// retryHungResident is as retryHung.
type retryHungResident struct{ Resident }

func (p retryHungResident) VerifyFor(ctx context.Context, prepared objective.Prepared,
	allowed time.Duration) (bool, *objective.Failure, error) {
	through, failure, err := p.Resident.VerifyFor(ctx, prepared, allowed)
	if hung(ctx, failure, err) {
		through, failure, err = p.Resident.VerifyFor(ctx, prepared, allowed)
	}
	return through, failure, whole(ctx, err)
}

// whole is the error of work that its context has cut short, or else its own.
func whole(ctx context.Context, err error) error {
	if err == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// hung reports whether a point, or the reference that it is compared with, ran out
// of time.
func hung(ctx context.Context, failure *objective.Failure, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if fault, ok := errors.AsType[*worker.Fault](err); ok {
		return fault.Kind == worker.Hung
	}
	return err == nil && failure != nil && failure.Reason == string(worker.Hung)
}
