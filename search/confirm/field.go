package confirm

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"pawl/objective"
	"pawl/space"
)

// Field measures many points against each other on the study's own workload, the winners of
// other studies among them. Each is checked in full first, and what fails is recorded with its
// failure and measured no further; the others are measured in rounds, as finalists are.
//
// A run that was ended goes on: whole rounds count, the broken one is measured again, and
// what was measured in this run was checked in it. So nothing but a round is lost by a kill.
// A run that has measured other points as well is not gone on with.
//
// Of the study, Record, Rounds, Refresh, Late, Stopped and Progress are used, and all of the
// options but Finalists. It reports whether all was measured; otherwise the user has stopped it.
func Field(ctx context.Context, evaluator Evaluator, study Study, options Options,
	points ...space.Point) (through bool, err error) {
	c := &confirmation{Study: study, options: options, evaluator: evaluator}
	err = c.field(ctx, points)
	if errors.Is(err, errStopped) {
		return false, nil
	}
	return err == nil, err
}

func (c *confirmation) field(ctx context.Context, points []space.Point) error {
	run, number := c.next(Dispatch)
	var before []Round
	latest := slices.DeleteFunc(Latest(c.Rounds()), func(r Round) bool { return r.Phase != Dispatch })
	other := slices.ContainsFunc(latest, func(r Round) bool { return !slices.Contains(points, r.Point) })
	if len(latest) > 0 && !other {
		before, run = latest, latest[0].Run
	}
	c.compileAhead(ctx, points)
	contenders, err := c.checkField(ctx, Round{Phase: Dispatch, Run: run, Number: number}, before, points)
	if errors.Is(err, errRecovered) {
		run, number = c.next(Dispatch)
		contenders, err = c.checkField(ctx, Round{Phase: Dispatch, Run: run, Number: number}, nil, points)
	}
	if err != nil || len(contenders) == 0 {
		return err
	}
	return c.measureField(ctx, Round{Phase: Dispatch, Run: run, Number: number}, contenders)
}

// errRecovered says that a point works which has failed in the run: not every failure lasts.
var errRecovered = errors.New("a point that failed works now")

// checkField returns the points that work. Each failure is recorded once.
func (c *confirmation) checkField(ctx context.Context, round Round, before []Round,
	points []space.Point) ([]objective.Prepared, error) {
	var contenders []objective.Prepared
	for _, point := range points {
		if c.Stopped() {
			return nil, errStopped
		}
		p, err := c.evaluator.Prepare(ctx, point)
		if err != nil {
			return nil, err
		}
		measured, failed := false, false
		for _, r := range before {
			if r.Point != point {
				continue
			}
			if err := SameBinary(r.Outcome, p); err != nil {
				return nil, err
			}
			measured, failed = true, failed || r.Outcome.Failure != nil
		}
		failure := p.Failure
		if failure == nil && (failed || !measured) {
			if failure, err = c.evaluator.Verify(ctx, p); err != nil {
				return nil, err
			}
		}
		switch {
		case failed && failure == nil:
			return nil, errRecovered
		case failed:
		case failure != nil:
			round.Point, round.Outcome = point, objective.Outcome{Failure: failure, Binary: p.Binary.Digest}
			if err := c.Record(round); err != nil {
				return nil, err
			}
		default:
			contenders = append(contenders, p)
		}
	}
	return contenders, nil
}

// measureField measures until every contender has all rounds, or the time is over.
func (c *confirmation) measureField(ctx context.Context, round Round, contenders []objective.Prepared) error {
	for {
		done := c.wholeRounds(round.Run, contenders)
		if done >= c.options.Rounds || done >= FewestRounds && c.Late(Dispatch) {
			c.Progress(Dispatch, done)
			return nil
		}
		c.Progress(Dispatch, done)
		c.Refresh()
		round.Number = 1 + highest(c.Rounds(), Dispatch)
		rng := rand.New(rand.NewPCG(c.options.Seed, uint64(round.Number)))
		for _, i := range rng.Perm(len(contenders)) {
			if c.Stopped() {
				return errStopped
			}
			if err := c.measureOnce(ctx, round, contenders[i]); err != nil {
				return err
			}
		}
		contenders = slices.DeleteFunc(contenders, func(p objective.Prepared) bool {
			return slices.ContainsFunc(c.Rounds(), func(r Round) bool {
				return r.Phase == Dispatch && r.Run == round.Run && r.Point == p.Point && r.Outcome.Failure != nil
			})
		})
		if len(contenders) == 0 {
			return nil
		}
	}
}

// wholeRounds counts the rounds of a run in which all contenders were measured.
func (c *confirmation) wholeRounds(run int, contenders []objective.Prepared) (whole int) {
	counts := map[int]int{}
	for _, r := range c.Rounds() {
		contends := slices.ContainsFunc(contenders, func(p objective.Prepared) bool { return p.Point == r.Point })
		if r.Phase == Dispatch && r.Run == run && r.Outcome.Failure == nil && contends {
			if counts[r.Number]++; counts[r.Number] == len(contenders) {
				whole++
			}
		}
	}
	return whole
}
