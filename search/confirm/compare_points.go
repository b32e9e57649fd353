package confirm

import (
	"context"
	"errors"
	"slices"

	"pawl/objective"
	"pawl/objective/experiment"
	"pawl/search/trial"
	"pawl/space"
)

// Compare measures points against each other as finalists are measured: each is checked in
// full first, then all are measured in rounds. The phase is Across, for the winner and the default on
// another workload than that of their study, or Dispatch, for the winners of other studies on
// the study's own. A point that does not compile, or fails the check, is recorded as a round with its
// failure; Dispatch measures the others, and Across nothing.
//
// What was measured in the phase's latest run was checked in it, and is not checked again.
//
// Of the options, Finalists and Unexplained are not used. It reports whether all was measured or found to fail;
// otherwise the user has stopped it.
func Compare(ctx context.Context, evaluator Evaluator, study Study, options Options, phase trial.Phase,
	points ...space.Point) (through bool, err error) {
	c := &confirmation{Study: study, options: options, evaluator: evaluator, costs: map[space.Point]Cost{}}
	err = c.compare(ctx, phase, points)
	if errors.Is(err, experiment.ErrStopped) {
		return false, nil
	}
	return err == nil, err
}

func (c *confirmation) compare(ctx context.Context, phase trial.Phase, points []space.Point) error {
	c.compileAhead(ctx, points)
	run := c.latest(phase, points)
	contenders, failed, err := c.checked(ctx, run, points)
	if errors.Is(err, errRecovered) {
		run = c.next(phase)
		contenders, failed, err = c.checked(ctx, run, points)
	}
	if err != nil || len(contenders) == 0 || phase == trial.Across && failed {
		return err
	}
	return c.measure(ctx, run, contenders)
}

// errRecovered says that a point works which has failed in the run: not every failure lasts.
var errRecovered = errors.New("a point that failed works now")

// checked returns the points that work. Each failure is recorded once.
func (c *confirmation) checked(ctx context.Context, run run,
	points []space.Point) (contenders []objective.Prepared, failed bool, err error) {
	for _, point := range points {
		if c.Stopped() {
			return nil, false, experiment.ErrStopped
		}
		p, err := c.evaluator.Prepare(ctx, point)
		if err != nil {
			return nil, false, err
		}
		before := slices.DeleteFunc(c.of(run), func(r trial.Round) bool { return r.Point != point })
		for _, r := range before {
			if err := SameBinary(r.Outcome, p); err != nil {
				return nil, false, err
			}
		}
		failedBefore := slices.ContainsFunc(before, func(r trial.Round) bool { return fails(r.Outcome) })
		failure := p.Failure
		if failure == nil && (failedBefore || len(before) == 0) {
			if failure, err = c.evaluator.Verify(ctx, p); err != nil {
				return nil, false, err
			}
		}
		switch failed = failed || failure != nil; {
		case failure == nil && failedBefore:
			return nil, false, errRecovered
		case failure == nil:
			contenders = append(contenders, p)
		case !failedBefore:
			outcome := objective.Outcome{Failure: failure, Binary: p.Binary.Digest}
			if err := c.record(run, 1+highest(c.Rounds(), run.phase), point, outcome); err != nil {
				return nil, false, err
			}
		}
	}
	return contenders, failed, nil
}
