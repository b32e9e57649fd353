package search

import (
	"context"
	"errors"
	"time"

	"pawl/objective"
	"pawl/objective/worker"
	"pawl/space"
)

// retryHung asks an evaluator once more about a point that ran out of time. A process
// that is stopped for half a minute, by a debugger or with its machine, looks from
// outside like one that hangs, and a good point must not be lost for good over it. A
// point that really hangs costs its time limit twice.
type retryHung struct{ Evaluator }

// RetryHung returns an evaluator that asks once more about a point that ran out of time.
func RetryHung(e Evaluator) Evaluator { return retryHung{e} }

func (p retryHung) Measure(ctx context.Context, prepared objective.Prepared,
	incumbent float64) (objective.Outcome, error) {
	outcome, err := p.Evaluator.Measure(ctx, prepared, incumbent)
	if !hung(outcome.Failure, err) {
		return outcome, err
	}
	again, err := p.Evaluator.Measure(ctx, prepared, incumbent)
	again.Spent.Check += outcome.Spent.Check
	again.Spent.Measure += outcome.Spent.Measure
	return again, err
}

func (p retryHung) Sample(ctx context.Context, prepared objective.Prepared, samples int) (objective.Outcome, error) {
	outcome, err := p.Evaluator.Sample(ctx, prepared, samples)
	if hung(outcome.Failure, err) {
		return p.Evaluator.Sample(ctx, prepared, samples)
	}
	return outcome, err
}

func (p retryHung) Verify(ctx context.Context, prepared objective.Prepared) (*objective.Failure, error) {
	failure, err := p.Evaluator.Verify(ctx, prepared)
	if hung(failure, err) {
		return p.Evaluator.Verify(ctx, prepared)
	}
	return failure, err
}

// retryHungResident is as retryHung.
type retryHungResident struct{ Resident }

func (p retryHungResident) VerifyFor(ctx context.Context, prepared objective.Prepared,
	allowed time.Duration) (bool, *objective.Failure, error) {
	through, failure, err := p.Resident.VerifyFor(ctx, prepared, allowed)
	if hung(failure, err) {
		return p.Resident.VerifyFor(ctx, prepared, allowed)
	}
	return through, failure, err
}

// Prepare tries again only if this process stood still meanwhile: compilers that
// take too long are more common than pauses, and dearer. On Linux compilers that hardly ran are
// started again by objective/worker; this is for other systems, and for build commands.
func (p retryHung) Prepare(ctx context.Context, point space.Point) (objective.Prepared, error) {
	var prepared objective.Prepared
	var err error
	paused := watchPauses(func() { prepared, err = p.Evaluator.Prepare(ctx, point) })
	if paused && prepared.Failure != nil && prepared.Failure.Reason == objective.CompileTimeout {
		return p.Evaluator.Prepare(ctx, point)
	}
	return prepared, err
}

// hung reports whether a point, or the reference that it is compared with, ran out of time.
func hung(failure *objective.Failure, err error) bool {
	var fault *worker.Fault
	if errors.As(err, &fault) {
		return fault.Kind == worker.Hung
	}
	return err == nil && failure != nil && failure.Reason == string(worker.Hung)
}

const (
	// heartbeat is how often a process that runs notes that it does.
	heartbeat = 250 * time.Millisecond
	// longestBeat is how long it may miss doing so on a busy machine.
	longestBeat = 5 * time.Second
)

// watchPauses does something and reports whether the process stood still meanwhile.
func watchPauses(do func()) (paused bool) {
	done := make(chan struct{})
	found := make(chan bool, 1)
	go func() {
		ticker := time.NewTicker(heartbeat)
		defer ticker.Stop()
		gap, last := time.Duration(0), time.Now()
		for running := true; running; {
			select {
			case <-done:
				running = false
			case <-ticker.C:
			}
			gap, last = max(gap, time.Since(last)), time.Now()
		}
		found <- gap > longestBeat
	}()
	do()
	close(done)
	return <-found
}
