// Package search answers which point is next: it runs a study of one kernel
// from the first ask to the confirmed winner.
//
//  1. Ask: a goptuna study proposes a point, by a sampler of ours plugged in
//     as its relative sampler: valid, unseen, and aware of what is pending.
//  2. Prepare: points are compiled ahead while others are measured.
//  3. Measure: one point at a time, in the order asked. So an ask depends on
//     the seed and on the answers so far, never on the number of compilers.
//  4. Tell: the outcome is durable before the next ask.
//  5. Confirm: the finalists and the default are checked in full and measured
//     again, interleaved, in fresh processes. See Confirm.
//
// goptuna is the record of trials and is imported here only. Its storage is
// served from memory and writes through a Recorder; its own samplers, which
// lose to random search on spaces with constraints, are not used.
package search

import (
	"context"
	"time"

	"pawl/objective"
	"pawl/search/sampler"
	"pawl/space"
)

// Evaluator turns points into outcomes. objective.Evaluator is the real one; a
// recorded space is another.
type Evaluator interface {
	// Prepare does what may be done ahead. It is called concurrently. An error
	// is broken machinery; a point that cannot work is a Prepared with a
	// Failure.
	Prepare(context.Context, space.Point) (objective.Prepared, error)
	// Width is how many points can be measured at once.
	Width() int
	// Measure completes a prepared point. It is called by as many goroutines at
	// a time. Rival is the best time so far in milliseconds, 0 for none.
	Measure(ctx context.Context, p objective.Prepared, rival float64) (objective.Outcome, error)
	// Verify checks a point as thoroughly as the kernel's author asks. It
	// returns why the point must not win, or nil.
	Verify(context.Context, objective.Prepared) (*objective.Failure, error)
	// VerifyFor does a part of Verify, for about as long as it is allowed, and
	// reports whether that was the last. Both go on where the part before ended.
	VerifyFor(ctx context.Context, p objective.Prepared, allowed time.Duration) (through bool, failure *objective.Failure, err error)
	// Spare reports whether the device has time to spare while compilers run,
	// because they run somewhere else.
	Spare() bool
	// Anticipate gets ready what a point will be checked against while it is being
	// prepared. It is called on a device with time to spare only.
	Anticipate(context.Context, space.Point) error
	// Refresh makes the samples that follow come from fresh processes.
	Refresh()
	// Sample takes a number of samples of a point.
	Sample(ctx context.Context, p objective.Prepared, samples int) (objective.Outcome, error)
}

var _ Evaluator = (*objective.Evaluator)(nil)

// Trial is one point's way through the study.
type Trial struct {
	// Number counts from 0 in the order of asking.
	Number int
	Point  space.Point
	// Told says that Outcome is there; before that the trial is running.
	Told    bool
	Outcome objective.Outcome
	// Elapsed is the study's active time when the trial was told.
	Elapsed time.Duration
}

// OK reports whether the trial has a verified time.
func (t Trial) OK() bool { return t.Told && t.Outcome.Failure == nil }

// Timed returns the trials with a verified time, in their order.
func Timed(trials []Trial) []sampler.Timed {
	var timed []sampler.Timed
	for _, t := range trials {
		if t.OK() {
			timed = append(timed, sampler.Timed{Point: t.Point, Milliseconds: t.Outcome.Milliseconds()})
		}
	}
	return timed
}

// Round is one more measurement of a trial's point.
type Round struct {
	// Phase is SecondLook, Confirmation or Ablation.
	Phase Phase
	// Run counts how often a set of contenders was measured against each other.
	// Rounds of different runs are of different days or of different contenders,
	// and are never compared: only the latest of a phase counts. Second looks
	// belong to none.
	Run int
	// Number counts the rounds of a phase from 0, over all runs. Contenders of one
	// round are measured close together, in random order, each in a fresh process.
	// Second looks are counted for each point by itself.
	Number  int
	Point   space.Point
	Outcome objective.Outcome
}

// Phase is a part of a study after a trial's own measurement.
type Phase string

const (
	// SecondLook measures the leaders again while the search goes on.
	SecondLook Phase = "second look"
	// Confirmation compares the finalists with the default.
	Confirmation Phase = "confirmation"
	// Ablation walks from the default to the winner.
	Ablation Phase = "ablation"
)

// Recorder makes a study durable. A method that returns nil promises that what
// it was given survives a kill -9 at any later instant; an error ends the
// study, because what cannot be recorded must not be claimed.
type Recorder interface {
	// Asked records a trial that is about to run.
	Asked(Trial) error
	// Told records its outcome.
	Told(Trial) error
	// Struck records that a told trial failed the full check afterwards.
	Struck(number int, failure *objective.Failure) error
	// Measured records a round.
	Measured(Round) error
}
