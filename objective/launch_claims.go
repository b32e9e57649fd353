package objective

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"pawl/objective/check"
	"pawl/objective/worker"
)

// contents are inputs for some launches of a sample, whose right answers are known; the others' are drawn from the same
// pool.
type contents struct {
	pool    uint64
	seeds   []uint64
	answers []check.Answer
}

// unknown are contents that no launch has seen.
func unknown() contents { return contents{pool: rand.Uint64()} }

const (
	// A claim may be so much less than what the system counted, in part and in all: answers travel. Where nobody counts,
	// or several threads work, what this process saw counts instead, and it may have to wait for a core. The more
	// launches, the less that matters: they are doubled until they take longer than anybody waits for a core. When
	// all that a process tried again has taken as long, the shortest is the sample: nobody gains by a claim.
	claimShare = 0.1
	claimSlack = 300 * time.Microsecond
	longClaim  = 200 * time.Millisecond
)

// claim is what a worker says that launches took, and what is known of it here: how long the answer took, and how much
// of that its processors worked.
type claim struct {
	milliseconds           float64 // per launch
	total, elapsed, worked time.Duration
}

// low says that the launches may have taken longer than is claimed.
func (c claim) low() bool {
	return float64(c.worked-c.total) > claimShare*float64(c.total)+float64(claimSlack)
}

// launch times launches, each on inputs of its own, and looks at what they have left behind. Those with known answers
// are any of them, and nothing tells them from others: the worker hears which they were when it is asked for their
// results.
func (w *stopwatch) launch(ctx context.Context, batch int, on contents) (claim, *worker.Fault, error) {
	seeds := make([]uint64, batch)
	for i := range seeds {
		seeds[i] = rand.Uint64()
	}
	var known []int
	if len(on.seeds) > 0 {
		known = w.random.Perm(batch)[:min(len(on.seeds), batch)]
	}
	for i, launch := range known {
		seeds[launch] = on.seeds[i]
	}
	if fault, err := w.arrange(ctx, on.pool, seeds); fault != nil || err != nil {
		return claim{}, fault, err
	}
	timing, fault, err := w.session.Time(ctx, worker.Time{Samples: 1, Batch: batch})
	if fault != nil || err != nil {
		return claim{}, fault, err
	}
	if len(timing.Samples) != 1 || timing.Batch != batch || !(timing.Samples[0] >= 0) {
		return claim{}, w.unasked(), nil
	}
	c := claim{timing.Samples[0], time.Duration(timing.Samples[0] * float64(batch) * 1e6), timing.Elapsed,
		timing.Worked}
	if c.total > c.elapsed {
		w.session.Distrust()
		detail := fmt.Sprintf("launches that took %v by the worker's clock took %v by this process's", c.total, c.elapsed)
		return c, &worker.Fault{Kind: worker.Contradicted, Detail: detail}, nil
	}
	// What is damaged says more than what is wrong by it.
	var wrong *worker.Fault
	for i, launch := range known {
		if wrong == nil && err == nil {
			wrong, err = w.compare(ctx, launch, on.answers[i])
		}
	}
	if err != nil || w.session.Client.Finished() {
		return c, wrong, err
	}
	result, fault, err := w.session.Collect(ctx, worker.Collect{})
	return c, cmp.Or(fault, result.Damage, wrong), err
}

func (w *stopwatch) compare(ctx context.Context, launch int, answer check.Answer) (*worker.Fault, error) {
	outputs, fault, err := w.results(ctx, launch)
	if fault != nil || err != nil {
		return fault, err
	}
	mismatch, err := answer.Compare(outputs)
	if mismatch == nil || err != nil {
		return nil, err
	}
	return &worker.Fault{Kind: worker.WrongWhenTimed, Detail: mismatch.String()}, nil
}
