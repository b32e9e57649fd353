package search

import (
	"errors"
	"fmt"
	"math"
	"time"

	"pawl/internal/page"
	"pawl/search/confirm"
	"pawl/search/trial"
)

// budget is the time of a study, which every phase asks. It plans backwards: what an interval takes is reserved before
// the search has the rest. What has begun when the time is over is abandoned.
type budget struct {
	total   time.Duration // 0 for no limit
	elapsed func() time.Duration
	study   *study
	// starting is what measuring took beside checks and samples, all together for so many trials.
	starting time.Duration
	started  int
}

const (
	// SearchShare is the part of the budget that the search may use; the rest is
	// for confirming what it found.
	SearchShare = 0.6
	// leastShare is the part that it has in any case: what was not found cannot be confirmed.
	leastShare = 0.3
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

// learn notes how long a trial took to measure, with its process.
func (b *budget) learn(took time.Duration, t trial.Trial) {
	b.starting += max(0, took-t.Outcome.Spent.Check-t.Outcome.Spent.Measure)
	b.started++
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
	if b.started > 0 {
		start += b.starting / time.Duration(b.started)
	}
	return confirm.Cost{Start: start, Sample: sample}
}

// plan returns how long the search may take, and for how many finalists, up to two, the rest pays an interval.
func (b *budget) plan() (search time.Duration, finalists int) {
	share := func(part float64) time.Duration { return time.Duration(part * float64(b.total)) }
	initial, known := b.study.initial()
	best, found := b.study.best()
	if !known || !found {
		return share(SearchShare), 2
	}
	contenders := []confirm.Cost{b.cost(initial), b.cost(best), b.cost(best)}
	for ; len(contenders) > 1; contenders = contenders[:len(contenders)-1] {
		if search := b.total - confirm.Reserve(contenders...); search >= share(leastShare) {
			return min(search, share(SearchShare)), len(contenders) - 1
		}
	}
	return share(SearchShare), 0
}

// searchTime is how long the search may take.
func (b *budget) searchTime() time.Duration {
	search, _ := b.plan()
	return search
}

// explain says what the budget allows where runs are long, and nothing where it allows the usual.
func (b *budget) explain() string {
	search, finalists := b.plan()
	initial, known := b.study.initial()
	cost := b.cost(initial).Of(1)
	if !known || b.total == 0 || cost == 0 || finalists == 2 && search == time.Duration(SearchShare*float64(b.total)) {
		return ""
	}
	text := fmt.Sprintf("one run of the default takes %s with its checks: %v allow about %s",
		page.Milliseconds(1e3*cost.Seconds()), b.total.Round(time.Second), page.Count(int(b.total/cost), "such run"))
	if finalists > 0 {
		return text // how many go where depends on what is found
	}
	least := confirm.Reserve(b.cost(initial), b.cost(initial)).Seconds() / (1 - leastShare)
	return fmt.Sprintf("%s, too few to confirm a winner; --budget %v is enough", text,
		time.Duration(math.Ceil(1.1*least))*time.Second)
}
