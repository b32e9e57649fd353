// Package search runs a study of one kernel, from the first trial to the confirmed
// winner.
//
//  1. Ask: a goptuna study proposes a point, by a sampler of ours plugged in
//     as its relative sampler: valid, unseen, and aware of what is pending.
//  2. Prepare: points are compiled ahead while others are measured.
//  3. Measure: one point at a time, in the order asked, so that an ask depends on the
//     seed and on the answers so far, never on the number of compilers. Where compiling
//     takes many times as long as measuring, as for a GPU, of those that are compiled the one
//     with the largest acquisition: then an ask depends on the order of the answers too.
//  4. Finish: the outcome is durable before the next ask.
//  5. Confirm: the finalists and the default are checked in full and measured
//     again, interleaved, in fresh processes. See package confirm.
//
// Each part is a type: study asks, Depth says how far ahead, pipeline prepares and measures on a Machine, secondLook
// uses the time in which a GPU would wait for compilers, budget says what there is time for. The engine puts them
// together, and says when it is enough (stopping.go). One goroutine runs them; only Prepare and Measure run beside it.
//
// goptuna has the trials in its own storage in memory; what must last goes through a
// Recorder. Its own sampler is one of those that can be chosen, see package sampler.
package search

import (
	"context"
	"time"

	"pawl/objective"
	"pawl/search/confirm"
	"pawl/search/trial"
	"pawl/space"
)

// Evaluator turns points into outcomes. objective.Evaluator is the real one; a
// recorded space is another. An error is broken machinery and ends the study; a
// point that cannot work is a value with a Failure.
//
// Prepare is called by as many goroutines as there are lanes and Measure by as many as
// Options.Width, all at the same time; Measure and Sample wait for a device. Sample is
// called by one more goroutine beside these, Verify and Refresh when nothing else runs.
type Evaluator interface {
	confirm.Evaluator // Prepare, Verify, Refresh, Sample
	// Measure checks and times a prepared point. Incumbent is the best time so far in milliseconds, 0 for none.
	Measure(ctx context.Context, p objective.Prepared, incumbent float64) (objective.Outcome, error)
}

// Resident is a device that keeps its worker process from one point to the next, and
// has time to spare while compilers run, because they run somewhere else: a GPU. One
// goroutine calls it, while others call Prepare and Measure.
type Resident interface {
	// VerifyFor does a part of Evaluator.Verify, for about as long as it is allowed,
	// and reports whether that was the last. Both go on where the part before ended.
	VerifyFor(ctx context.Context, p objective.Prepared,
		allowed time.Duration) (through bool, failure *objective.Failure, err error)
	// Anticipate gets ready what a point will be checked against while it is being prepared.
	Anticipate(context.Context, space.Point) error
}

var (
	_ Evaluator = (*objective.Evaluator)(nil)
	_ Resident  = (*objective.Evaluator)(nil)
)

// Recorder makes a study durable. A method that returns nil promises that what
// it was given survives a kill -9 at any later instant; an error ends the
// study, because what cannot be recorded must not be claimed. One goroutine calls
// it.
type Recorder interface {
	// Started records a trial that is about to run.
	Started(trial.Trial) error
	// Finished records its outcome.
	Finished(trial.Trial) error
	// Disqualified records that a finished trial failed the full check afterwards.
	Disqualified(number int, failure *objective.Failure) error
	// Measured records a round.
	Measured(trial.Round) error
}

// timed adds the time of an action to one of the fields.
func timed(field *time.Duration, do func() error) error {
	start := time.Now()
	err := do()
	*field += time.Since(start)
	return err
}
