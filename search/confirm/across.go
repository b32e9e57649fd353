package confirm

import (
	"context"
	"errors"
	"slices"

	"pawl/objective"
	"pawl/space"
)

// Compare measures points against each other on another workload than that of their
// study, as finalists are measured: each is checked in full first, then all are measured
// in rounds, interleaved, in fresh processes. A point that does not compile, or fails the
// check, is recorded as a round with its failure, and nothing is measured. What an earlier
// call has measured in full is not measured again.
//
// Of the study, Record, Rounds, Refresh, Late, Stopped and Progress are used, and of the
// options Rounds, Samples and Seed. It reports whether all was measured or found to fail;
// otherwise the user has stopped it.
func Compare(ctx context.Context, evaluator Evaluator, study Study, options Options,
	points ...space.Point) (through bool, err error) {
	c := &confirmation{Study: study, options: options, evaluator: evaluator}
	err = c.compare(ctx, points)
	if errors.Is(err, errStopped) {
		return false, nil
	}
	return err == nil, err
}

func (c *confirmation) compare(ctx context.Context, points []space.Point) error {
	contenders := make([]objective.Prepared, len(points))
	broken := slices.ContainsFunc(Latest(c.Rounds()), func(r Round) bool { return r.Outcome.Failure != nil })
	for i, point := range points {
		var err error
		if contenders[i], err = c.evaluator.Prepare(ctx, point); err != nil {
			return err
		}
		broken = broken || contenders[i].Failure != nil
	}
	if !broken { // or else it is tried again: not every failure lasts
		if measured, err := c.measuredBefore(Across, contenders); measured || err != nil {
			return err
		}
	}
	broken = false
	run, number := c.next(Across)
	for _, p := range contenders {
		if c.Stopped() {
			return errStopped
		}
		failure := p.Failure
		if failure == nil {
			var err error
			if failure, err = c.evaluator.Verify(ctx, p); err != nil {
				return err
			}
		}
		if failure != nil {
			broken = true
			round := Round{
				Phase:   Across,
				Run:     run,
				Number:  number,
				Point:   p.Point,
				Outcome: objective.Outcome{Failure: failure, Binary: p.Binary.Digest},
			}
			if err := c.Record(round); err != nil {
				return err
			}
		}
	}
	if broken {
		return nil
	}
	return c.measure(ctx, Across, contenders)
}
