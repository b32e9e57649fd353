// Package confirm measures the finalists of a search against each other, and says
// which of them won and why.
//
//  1. Finalists: the fastest trials and the default pass the full check, with the
//     machine code that was timed. What fails is disqualified, the next one follows.
//  2. Rounds: each round measures every contender once, close together in time and in
//     fresh processes, in permuted blocks of orders. Noise that lasts longer than a round
//     hits all of them alike, and so does a trend inside a round. A finalist that is
//     clearly behind leaves. How many finalists there are, and how many samples a round has,
//     follows from the time that is left: the rounds of an interval come first.
//  3. Winner: the contender that is most probably the fastest ([stats.Contest]).
//  4. Kinds of data: rounds measure the contenders on these too. Who is slower than the default on one cannot win,
//     and the next finalists that do not share what these share take their place.
//  5. Ablation: the points between the default and the winner, one change at a time,
//     measured in the same way, if there is time left for it.
//
// Rounds of different runs are never compared: their contenders are not the same. A run of
// the same contenders goes on where it was ended.
package confirm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pawl/internal/collect"
	"pawl/objective"
	"pawl/objective/experiment"
	"pawl/search/trial"
	"pawl/space"
)

// Evaluator is what a confirmation asks about a point, one call at a time but for
// Prepare, which is called by as many goroutines as there are lanes. An error is
// broken machinery; a point that cannot work is a failure.
type Evaluator interface {
	// Prepare compiles a point, or finds it in a cache: what may be done ahead.
	Prepare(context.Context, space.Point) (objective.Prepared, error)
	// Verify checks a point in full, as thoroughly as the kernel's author asks. It
	// returns why the point must not win, or nil.
	Verify(context.Context, objective.Prepared) (*objective.Failure, error)
	// Refresh begins a round, in which nothing is as in the last: processes, inputs with known answers.
	Refresh()
	// Sample takes a number of samples of a point.
	Sample(ctx context.Context, p objective.Prepared, samples int) (objective.Outcome, error)
}

// Candidate is a trial that may be confirmed.
type Candidate struct {
	trial.Trial
	// Cost is what measuring it is expected to take; zero where nobody knows.
	Cost Cost
}

// Study keeps the rounds of a confirmation and limits its time. The goroutine that called Run or Compare calls it.
type Study interface {
	// Rounds returns all that were recorded, those of earlier runs included.
	Rounds() []trial.Round
	// Record makes a round durable.
	Record(trial.Round) error
	// Left is the time that is left, Unlimited for no limit. No round begins that would take longer.
	Left() time.Duration
	// Stopped reports whether the user has had enough.
	Stopped() bool
	// Progress is called before the first round of a phase and after each.
	Progress(phase trial.Phase, rounds int)
}

// Search is a study whose finalists are confirmed.
type Search interface {
	Study
	// Pool holds the points that may be tried.
	Pool() *space.Pool
	Trials() []trial.Trial
	// Disqualify makes durable that a trial has failed the full check, or when it was measured again.
	Disqualify(number int, failure *objective.Failure) error
	// Check returns what a trial of a point has found, or else takes it through the
	// check of a trial.
	Check(context.Context, objective.Prepared) (objective.Outcome, error)
}

// Options says how much is measured. Every field is needed.
type Options struct {
	// Finalists is the number of contenders beside the default.
	Finalists int
	// Rounds is the number of rounds, Samples that of the samples per contender and
	// round.
	Rounds, Samples int
	// Seed draws the orders of a new run; one that goes on has its own.
	Seed uint64
	// Lanes is the number of points that are prepared at once.
	Lanes int
	// Kinds are the kinds of data that contenders are measured on beside the declared one.
	Kinds []string
	// Unexplained ends after the confirmation: no ablation follows.
	Unexplained bool
}

// confirmation is one run.
type confirmation struct {
	Study
	search     Search // that study; nil in a comparison
	candidates []Candidate
	options    Options
	evaluator  Evaluator
	// costs are what measuring each point takes, learned from every measurement, and checking is
	// the longest full check so far.
	costs    map[space.Point]Cost
	checking time.Duration
	// goesOn says that those that were caught make room for others.
	goesOn bool
}

// mostRuns is how often a confirmation goes on with other finalists.
const mostRuns = 2

// Run confirms the best candidates and explains the winner. Candidates are the default, if it works, and then the
// other trials that do, fastest first. Where the user stops it, it ends without an error.
func Run(ctx context.Context, evaluator Evaluator, search Search, candidates []Candidate, options Options) error {
	c := &confirmation{Study: search, search: search, candidates: candidates, options: options, evaluator: evaluator,
		costs: map[space.Point]Cost{}}
	for _, candidate := range candidates {
		c.costs[candidate.Point] = candidate.Cost
	}
	err := c.run(ctx)
	if errors.Is(err, experiment.ErrStopped) {
		err = nil
	}
	return err
}

func (c *confirmation) run(ctx context.Context) error {
	contenders, err := c.compared(ctx)
	if err == nil && len(contenders) > 1 && c.refuted(contenders) {
		contenders, err = c.compared(ctx) // those that failed may have driven others out
	}
	for again := 0; err == nil && again < mostRuns && len(contenders) > 1 && c.leadersCaught(contenders); again++ {
		c.goesOn = true
		contenders, err = c.compared(ctx)
	}
	if err != nil || len(contenders) < 2 {
		return err
	}
	if c.options.Unexplained || c.defaultFailed() || c.ablationTime(contenders) > c.Left() {
		return nil // it explains and decides nothing
	}
	path, err := c.ablationPath(ctx, contenders)
	if err != nil || len(path) < 2 {
		return err
	}
	return c.measure(ctx, c.latest(trial.Ablation, pointsOf(path)), path)
}

// compared measures the finalists and the default against each other.
func (c *confirmation) compared(ctx context.Context) ([]objective.Prepared, error) {
	contenders, err := c.finalists(ctx)
	if err == nil && len(contenders) > 1 {
		run := c.latest(trial.Confirmation, pointsOf(contenders))
		if err = c.measure(ctx, run, contenders); err == nil {
			err = c.catch(run, 0.95)
		}
	}
	return contenders, err
}

// refuted reports whether no finalist is left that is better than the default, because some have failed.
func (c *confirmation) refuted(contenders []objective.Prepared) bool {
	winner, found := Winner(c.standing())
	return !(found && winner != c.search.Pool().Space().Default()) && !c.defaultFailed() &&
		slices.ContainsFunc(contenders, func(p objective.Prepared) bool { return c.failed(p.Point) })
}

func pointsOf(contenders []objective.Prepared) (points []space.Point) {
	return collect.Each(contenders, func(p objective.Prepared) space.Point { return p.Point })
}

// finalists returns the default and the finalists, each checked in full. One that
// fails the full check is disqualified and the next takes its place.
func (c *confirmation) finalists(ctx context.Context) ([]objective.Prepared, error) {
	var chosen []objective.Prepared
	passedOver := c.passOver()
	for _, candidate := range c.candidates {
		if len(chosen) > c.options.Finalists || len(chosen) > 1 && !c.pays(chosen, candidate) {
			break
		}
		if c.Stopped() {
			return nil, experiment.ErrStopped
		}
		if c.failed(candidate.Point) || passedOver(candidate.Point) {
			continue
		}
		p, failure, err := c.checkInFull(ctx, candidate.Point)
		if err == nil {
			err = SameBinary(candidate.Outcome, p)
		}
		switch same := func(q objective.Prepared) bool { return q.Binary.Digest == p.Binary.Digest }; {
		case err != nil:
			return nil, err
		case failure != nil:
			if err := c.search.Disqualify(candidate.Number, failure); err != nil {
				return nil, err
			}
		case p.Binary.Digest == "" || !slices.ContainsFunc(chosen, same):
			chosen = append(chosen, p) // or else the same machine code contends already
		}
	}
	return chosen, nil
}

func (c *confirmation) checkInFull(ctx context.Context,
	point space.Point) (objective.Prepared, *objective.Failure, error) {
	p, err := c.evaluator.Prepare(ctx, point)
	if err != nil || p.Failure != nil {
		return p, p.Failure, err
	}
	start := time.Now()
	failure, err := c.evaluator.Verify(ctx, p)
	c.checking = max(c.checking, time.Since(start))
	return p, failure, err
}

// SameBinary returns an error when a point's machine code is not what its
// recorded outcome was measured with: what is checked in full, what is timed
// and what is suggested must be one and the same. A recorded space has no
// machine code, and nothing to compare.
func SameBinary(recorded objective.Outcome, p objective.Prepared) error {
	before, now := recorded.Binary, p.Binary.Digest
	if before == "" || now == "" || before == now {
		return nil
	}
	return &OtherCodeError{p.Point, before, now}
}

// OtherCodeError says that a point's machine code is not what was measured before: its study cannot go on.
type OtherCodeError struct {
	Point       space.Point
	Before, Now string // digests
}

func (e *OtherCodeError) Error() string {
	return fmt.Sprintf("the machine code of %s is not what was measured before (digest %.12s, then %.12s): the compiler, "+
		"its flags or an include has changed since; start a new study, without --resume", e.Point, e.Before, e.Now)
}
