package replay

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"pawl/objective"
	"pawl/search"
	"pawl/space"
)

// Evaluator plays a recorded space back. It is repeatable: the same calls with the same seed give the same outcomes.
type Evaluator struct {
	space *Space
	rng   *rand.Rand
}

var _ search.Evaluator = (*Evaluator)(nil)

// NewEvaluator returns an evaluator. The seed draws the samples of Sample.
func NewEvaluator(s *Space, seed uint64) *Evaluator {
	return &Evaluator{space: s, rng: rand.New(rand.NewPCG(seed, 0x7265706c6179))}
}

func (e *Evaluator) entry(point space.Point) (Entry, error) {
	index, err := e.space.pool.Index(point)
	if err != nil {
		return Entry{}, fmt.Errorf("replaying a record of %s: %w", e.space.record.Kernel, err)
	}
	return e.space.entries[index], nil
}

// Prepare answers with the recorded compile time, and with the failure of a point that did not come as far as running.
func (e *Evaluator) Prepare(ctx context.Context, point space.Point) (objective.Prepared, error) {
	entry, err := e.entry(point)
	if err != nil {
		return objective.Prepared{}, err
	}
	prepared := objective.Prepared{Point: point}
	prepared.Spent.Compile = entry.Compile
	prepared.Binary.Resources = entry.Resources
	if f := entry.Failure; f != nil && (f.Stage == objective.Preflight || f.Stage == objective.Compile) {
		prepared.Failure = f
	}
	return prepared, ctx.Err()
}

// Measure answers with the recorded samples or failure.
func (e *Evaluator) Measure(ctx context.Context, p objective.Prepared, _ float64) (objective.Outcome, error) {
	entry, err := e.entry(p.Point)
	if err != nil {
		return objective.Outcome{}, err
	}
	spent := p.Spent
	spent.Measure = max(0, entry.Spent-entry.Compile)
	return objective.Outcome{
		Failure: entry.Failure, Samples: slices.Clone(entry.Samples), Batch: 1, Spent: spent, Resources: entry.Resources,
	}, ctx.Err()
}

// Verify answers with the recorded failure: a recorded time was checked when it was recorded, or never will be.
func (e *Evaluator) Verify(ctx context.Context, p objective.Prepared) (*objective.Failure, error) {
	entry, err := e.entry(p.Point)
	if err != nil {
		return nil, err
	}
	return entry.Failure, ctx.Err()
}

// Refresh does nothing: a record has no processes.
func (*Evaluator) Refresh() {}

// Sample draws from the recorded samples, with replacement.
func (e *Evaluator) Sample(ctx context.Context, p objective.Prepared, samples int) (objective.Outcome, error) {
	entry, err := e.entry(p.Point)
	if err != nil {
		return objective.Outcome{}, err
	}
	outcome := objective.Outcome{Failure: entry.Failure, Batch: 1}
	if entry.OK() {
		for range samples {
			outcome.Samples = append(outcome.Samples, entry.Samples[e.rng.IntN(len(entry.Samples))])
		}
	}
	return outcome, ctx.Err()
}
