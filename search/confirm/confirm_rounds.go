package confirm

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pawl/internal/collect"
	"pawl/objective"
	"pawl/objective/experiment"
	"pawl/search/trial"
	"pawl/space"
)

// run is a set of contenders that are measured against each other.
type run struct {
	phase  trial.Phase
	number int
	seed   uint64 // of the orders
}

func (c *confirmation) next(phase trial.Phase) run {
	number := 0
	for _, r := range c.Rounds() {
		number = max(number, r.Run+1)
	}
	return run{phase, number, c.options.Seed}
}

// latest is the phase's latest run, or a new one where that has measured other points as well.
func (c *confirmation) latest(phase trial.Phase, points []space.Point) run {
	rounds := slices.DeleteFunc(trial.Latest(c.Rounds()), func(r trial.Round) bool { return r.Phase != phase })
	other := slices.ContainsFunc(rounds, func(r trial.Round) bool { return !slices.Contains(points, r.Point) })
	if len(rounds) == 0 || other {
		return c.next(phase)
	}
	return run{phase, rounds[0].Run, rounds[0].OrderSeed}
}

func (c *confirmation) of(run run) []trial.Round {
	return slices.DeleteFunc(slices.Clone(c.Rounds()),
		func(r trial.Round) bool { return r.Phase != run.phase || r.Run != run.number })
}

// rounds is the rule of a confirmation: whole rounds until there are enough, or no time for one more. A finalist that
// is clearly behind leaves. Rounds that an earlier run of the same contenders has recorded count, and a broken one is
// measured again, so that nothing but a round is lost by a kill.
type rounds struct {
	*confirmation
	run        run
	contenders []objective.Prepared
	needed     int // rounds for an interval
	begun      bool
	number     int      // that the round under way is recorded with
	kinds      []string // of data, that it measures beside the declared one
}

// contender is a point that is measured on the kinds of data whose turn it is.
type contender struct {
	experiment.Point
	rule *rounds
}

// Sample measures the point.
func (c contender) Sample(ctx context.Context, samples int) (objective.Outcome, error) {
	p := c.Prepared
	p.Kinds, p.KindSamples = c.rule.kinds, kindSamples
	return c.Sampler.Sample(ctx, p, samples)
}

// measure measures contenders against each other.
func (c *confirmation) measure(ctx context.Context, run run, contenders []objective.Prepared) error {
	for _, r := range c.of(run) {
		at := slices.IndexFunc(contenders, func(p objective.Prepared) bool { return p.Point == r.Point })
		if at < 0 {
			continue
		}
		if err := SameBinary(r.Outcome, contenders[at]); err != nil {
			return err
		}
	}
	rule := &rounds{confirmation: c, run: run, contenders: contenders, needed: FewestRounds}
	if run.phase != trial.Ablation {
		rule.needed = Needed(len(contenders) - 1)
	}
	rule.needed = min(rule.needed, c.options.Rounds)
	arms := collect.Each(contenders, func(p objective.Prepared) experiment.Arm {
		return contender{experiment.Point{Sampler: c.evaluator, Prepared: p}, rule}
	})
	e := experiment.Experiment{
		Arms: arms, Seed: run.seed, Stream: uint64(run.number), Record: rule.record, Stopped: c.Stopped,
	}
	_, err := e.Run(ctx, rule)
	return err
}

// Next decides by what is recorded.
func (r *rounds) Next([]experiment.Round) (plan experiment.Plan, err error) {
	phase, whole := r.run.phase, wholeRounds(r.of(r.run), r.run.phase, r.contenders)
	if r.begun {
		r.Progress(phase, whole)
	}
	if whole >= r.options.Rounds {
		return plan, nil
	}
	rest, err := r.remaining(r.run, slices.Clone(r.contenders), r.needed-whole)
	if err != nil || len(rest) == 0 || phase == trial.Confirmation && (len(rest) == 1 || r.defaultFailed()) {
		return plan, err
	}
	plan = experiment.Plan{Samples: r.samples(phase, rest, whole, r.needed), Round: whole}
	if plan.Samples > 0 && !r.begun {
		r.Progress(phase, whole)
	}
	for i, p := range r.contenders {
		if slices.ContainsFunc(rest, func(other objective.Prepared) bool { return other.Point == p.Point }) {
			plan.Arms = append(plan.Arms, i)
		}
	}
	r.begun, r.number, r.kinds = true, 1+highest(r.Rounds(), phase), r.kindsOf(r.run, rest)
	return plan, nil
}

// record makes a sample durable, and takes a trial out of the running whose point fails when it is measured again.
func (r *rounds) record(s experiment.Sample) error {
	p := r.contenders[s.Arm]
	r.learn(p, s.Asked, s.Took-s.Outcome.Spent.Kinds)
	same := func(candidate Candidate) bool { return candidate.Point == p.Point }
	if candidate, is := collect.First(r.candidates, same); is && fails(s.Outcome) {
		if err := r.search.Disqualify(candidate.Number, s.Outcome.Failure); err != nil {
			return err
		}
	}
	return r.confirmation.record(r.run, r.number, p.Point, s.Outcome)
}

// wholeRounds counts the rounds in which all contenders that are not out were measured.
func wholeRounds(rounds []trial.Round, phase trial.Phase, contenders []objective.Prepared) int {
	measured := Contenders(rounds, phase)
	for _, p := range contenders {
		if !out(rounds, p.Point) && !slices.ContainsFunc(measured, func(c Contender) bool { return c.Point == p.Point }) {
			return 0
		}
	}
	if len(measured) == 0 {
		return 0
	}
	return len(measured[0].Rounds)
}

// out reports whether a point is measured no further in a run.
func out(rounds []trial.Round, point space.Point) bool {
	return slices.ContainsFunc(rounds, func(r trial.Round) bool {
		return r.Point == point && r.Outcome.Failure != nil && r.Outcome.Failure.Reason != objective.Throttled
	})
}

// remaining are the contenders that are not out, with so many rounds needed. Where the time is short, the slowest leave
// until it is enough, so that the others get their interval.
func (c *confirmation) remaining(run run, contenders []objective.Prepared, needed int) ([]objective.Prepared, error) {
	isOut := func(p objective.Prepared) bool { return out(c.of(run), p.Point) }
	for contenders = slices.DeleteFunc(contenders, isOut); run.phase == trial.Confirmation; {
		left, before := c.Left(), len(contenders)
		short := time.Duration(needed)*c.round(contenders, 1) > left
		if before == 0 || 2*c.round(contenders, 1)/time.Duration(before) > left {
			break // there is not even time for a round of two
		}
		if err := c.dismiss(run, short); err != nil {
			return nil, err
		}
		if contenders = slices.DeleteFunc(contenders, isOut); !short || len(contenders) == before {
			break
		}
	}
	return contenders, nil
}

// failed reports whether the trial of a point has failed, maybe since it was chosen.
func (c *confirmation) failed(point space.Point) bool {
	return slices.ContainsFunc(c.search.Trials(), func(t trial.Trial) bool {
		return t.Point == point && t.Finished && !t.OK()
	})
}

// defaultFailed reports whether there is nothing left to compare with.
func (c *confirmation) defaultFailed() bool { return c.failed(c.search.Pool().Space().Default()) }

func (c *confirmation) record(run run, number int, point space.Point, outcome objective.Outcome) error {
	return c.Record(trial.Round{
		Phase: run.phase, Run: run.number, Number: number, OrderSeed: run.seed, Point: point, Outcome: outcome,
	})
}

// dismissal is the chance, for all contenders of a round together, of dismissing one that is
// not slower than the fastest.
const dismissal = 0.001

// dismiss records that contenders are clearly behind, from two rounds on, and where the time is short that the slowest
// is, so that the others get their interval. The default, which all are compared with, stays.
func (c *confirmation) dismiss(run run, short bool) error {
	if err := c.catch(run, 1-dismissal); err != nil {
		return err
	}
	contenders := Contenders(c.of(run), run.phase)
	if len(contenders) < 3 || len(contenders[0].Rounds) < 2 {
		return nil
	}
	number := 1 + highest(c.Rounds(), run.phase)
	contest, slowest := contest(contenders), -1
	for i, level := range contest.Levels {
		isDefault := contenders[i].Point == c.search.Pool().Space().Default()
		if short && !isDefault && (slowest < 0 || level > contest.Levels[slowest]) {
			slowest = i
		}
	}
	for i, behind := range contest.Behind(dismissal) {
		point := contenders[i].Point
		if !behind && i != slowest || point == c.search.Pool().Space().Default() {
			continue
		}
		failure := &objective.Failure{Stage: objective.Bench, Reason: Behind, Detail: fmt.Sprintf(
			"not measured any more after %d rounds", len(contenders[i].Rounds))}
		if !behind {
			failure.Reason = Short
		}
		if err := c.record(run, number, point, objective.Outcome{Failure: failure}); err != nil {
			return err
		}
	}
	return nil
}
