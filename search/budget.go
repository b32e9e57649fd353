package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"pawl/internal/page"
	"pawl/objective"
	"pawl/search/confirm"
	"pawl/search/sampler"
	"pawl/search/trial"
)

const (
	// DefaultBudget holds where neither a budget nor a number of trials is asked for: a
	// first visit ends in under a minute.
	DefaultBudget = 45 * time.Second
	// QuickBudget is the time for a rough answer.
	QuickBudget = 15 * time.Second
)

// budget is the time of a study, which every phase asks. It plans backwards: what an interval takes is reserved before
// the search has the rest. What has begun when the time is over is abandoned.
type budget struct {
	total   time.Duration // 0 for no limit
	elapsed func() time.Duration
	study   *study
	// rehearsed is what the default took: its full check, and a run of a round beside its sample.
	rehearsed struct{ check, start time.Duration }
}

const (
	// SearchShare is the part of the budget that the search may use; the rest is
	// for confirming what it found.
	SearchShare = 0.6
	// leastShare is the part that it has in any case: what was not found cannot be confirmed.
	leastShare = 0.3
	// enoughAndMore is by how much more than the expected a budget is that is asked for: a machine slows down.
	enoughAndMore = 1.5
	// grace is the part by which the end may be late, before what still runs is abandoned.
	grace = 0.05
)

// errTimeOver is why work is abandoned.
var errTimeOver = errors.New("the time is over")

// left is what is left for search and confirmation.
func (b *budget) left() time.Duration {
	if b.total == 0 {
		return confirm.Unlimited
	}
	return b.total - b.elapsed()
}

// untilAbandoned is how long what runs may go on.
func (b *budget) untilAbandoned() time.Duration {
	return b.left() + time.Duration(grace*float64(b.total))
}

// cost is what it probably takes to measure a trial's point once more. The check of a trial is a
// run more than that of a round.
func (b *budget) cost(t trial.Trial) confirm.Cost {
	spent := t.Outcome.Spent
	if len(t.Outcome.Samples) == 0 || spent.Measure == 0 {
		return confirm.Cost{} // its samples are those of another
	}
	sample := spent.Measure / time.Duration(len(t.Outcome.Samples))
	start := max(0, spent.Check-sample)
	if b.rehearsed.check > 0 {
		start = b.rehearsed.start
	}
	return confirm.Cost{Start: start, Sample: sample}
}

// share is when a search ends that has so much of the time, beside what a rehearsal took from it.
func (b *budget) share(part float64) time.Duration {
	return b.rehearsed.check + time.Duration(part*float64(b.total))
}

// plan returns how long the search may take, and for how many finalists, up to two, the rest pays an interval.
func (b *budget) plan() (search time.Duration, finalists int) {
	initial, known := b.study.initial()
	best, found := b.study.best()
	if !known || !found {
		return b.share(SearchShare), 2
	}
	contenders := []confirm.Cost{b.cost(initial), b.cost(best), b.cost(best)}
	for ; len(contenders) > 1; contenders = contenders[:len(contenders)-1] {
		if search := b.total - confirm.Reserve(b.rehearsed.check, contenders...); search >= b.share(leastShare) {
			return min(search, b.share(SearchShare)), len(contenders) - 1
		}
	}
	return b.share(SearchShare), 0
}

// searchTime is how long the search may take: all of the time while there are no two points to compare.
func (b *budget) searchTime() time.Duration {
	if len(sampler.TimedOf(b.study.trials)) < 2 {
		return b.total
	}
	search, _ := b.plan()
	return search
}

// explain says what the budget allows where runs are long, and nothing where it allows the usual.
func (b *budget) explain() string {
	search, finalists := b.plan()
	initial, known := b.study.initial()
	cost := b.cost(initial).Of(1)
	if !known || b.total == 0 || cost == 0 || finalists == 2 && search == b.share(SearchShare) {
		return ""
	}
	took := max(cost, initial.Outcome.Spent.Check+initial.Outcome.Spent.Measure)
	text := fmt.Sprintf("the default's trial took %s: the search has time for about %s",
		page.Milliseconds(1e3*took.Seconds()), page.Count(max(1, int(search/took)), "trial"))
	if finalists > 0 {
		return text + ", and the rest is for confirming"
	}
	needed := b.rehearsed.check + confirm.Reserve(b.rehearsed.check, b.cost(initial), b.cost(initial))
	return fmt.Sprintf("%s, and none is left to confirm a winner: give it --budget %v or more", text,
		time.Duration(math.Ceil(enoughAndMore*needed.Seconds()/(1-leastShare)))*time.Second)
}

// rehearse does with the default what confirming does with every contender, as soon as it has a time. That finds a
// wrong default before anything is compared with it, and tells what confirming takes on this machine now; the check is
// not repeated. Where it is too long to be worth its time it is given up. A GPU does it while it waits for compilers.
func (e *engine) rehearse(ctx context.Context) error {
	b := e.budget
	initial, known := e.study.initial()
	_, finalists := b.plan()
	useful := known && finalists > 0 && e.timed() && e.options.Resident == nil && e.options.Width == 1
	if !useful || b.rehearsed.check > 0 {
		return nil
	}
	p, err := e.evaluator.Prepare(ctx, initial.Point)
	if err != nil || p.Failure != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(leastShare*float64(b.total)), errTimeOver)
	defer cancel()
	e.evaluator.Refresh()
	begun := time.Now()
	_, err = e.evaluator.Sample(ctx, p, 1)
	b.rehearsed.start = max(0, time.Since(begun)-b.cost(initial).Sample)
	var failure *objective.Failure
	if err == nil {
		begun = time.Now()
		failure, err = e.evaluator.Verify(ctx, p)
	}
	b.rehearsed.check = time.Since(begun)
	switch {
	case over(ctx, err, errTimeOver):
		return nil
	case err == nil && failure != nil:
		return e.Disqualify(initial.Number, failure)
	}
	return err
}
