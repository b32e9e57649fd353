// Package experiment measures arms against each other in rounds. Whatever compares times asks it, and nothing else
// takes samples in a loop: what it does about order, throttling and failure holds for every comparison.
//
//  1. An [Arm] is whatever can be sampled in a fresh process: a point on some device, a program, a rival, a baseline
//     that was built from its sources. What kind it is was decided where it was opened, and nobody asks later.
//  2. Before each round a [Rule] says who is measured, with how many samples, or that it is enough. It sees rounds and
//     a clock, and no arms.
//  3. In a [Round] each arm is sampled once, close together in time, in permuted blocks of orders from a fresh seed
//     ([stats.Orders]). Noise that lasts longer than a round hits all of them alike, and so does a trend inside one.
//  4. Each sample is recorded as it comes. A round in which the device was throttled counts for nobody and is measured
//     again in the same order. An arm that fails is out, or ends the experiment.
//  5. A verdict is a pure function of the rounds, in the package that asked: the same rounds have the same verdict
//     today and in ten years.
package experiment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"pawl/internal/collect"
	"pawl/internal/stats"
	"pawl/objective"
)

// Arm is whatever can be sampled. Calls of the arms of an experiment do not run at the same time.
type Arm interface {
	// Renew begins a round, in which nothing is as in the last: processes, inputs whose answers are known. All arms of
	// an experiment are renewed before the first of them is sampled, so that arms may share what they renew.
	Renew()
	// Sample takes a number of samples, in a process that no earlier round has used, and checks what was computed.
	// Beyond that process two calls share no more than what a round does to all its arms. A failure says that the arm
	// itself does not work, or that the device was throttled; an error that the machinery broke and nothing was learned.
	Sample(ctx context.Context, samples int) (objective.Outcome, error)
	// String names it in messages.
	String() string
}

// Plan says what the next round measures.
type Plan struct {
	// Samples is how many samples each arm gives. Zero ends the experiment.
	Samples int
	// Arms takes part, by index; nil stands for all that have not failed.
	Arms []int
	// Round is the place of the round in the sequence of orders, from 0.
	Round int
}

// Rule decides before each round what it measures.
type Rule interface {
	// Next gets the rounds so far, those of which every arm that took part was measured.
	Next(rounds []Round) (Plan, error)
}

// Sample is what one arm gave in one round.
type Sample struct {
	Arm     int
	Outcome objective.Outcome
	// Asked is how many samples were asked for, Took how long they took with the process around them.
	Asked int
	Took  time.Duration
}

// Round holds a sample of each arm that took part, in the order in which they were measured.
type Round struct {
	Samples []Sample
	Took    time.Duration
}

// Sample returns what an arm gave, the zero value where it took no part.
func (r Round) Sample(arm int) Sample {
	found, _ := collect.First(r.Samples, func(s Sample) bool { return s.Arm == arm })
	return found
}

// Times returns the samples of an arm, nil where it gave none.
func (r Round) Times(arm int) []float64 { return r.Sample(arm).Outcome.Samples }

// Order returns the arms in the order in which they were measured.
func (r Round) Order() (arms []int) {
	for _, s := range r.Samples {
		arms = append(arms, s.Arm)
	}
	return arms
}

// Experiment is a set of arms and how they are measured. The zero value of every field but Arms is usable.
type Experiment struct {
	Arms []Arm
	// Seed draws the orders, and different streams of one seed are independent. Whoever asks for an experiment draws a
	// new seed for it: the same orders every day would be as good or bad every day.
	Seed, Stream uint64
	// Guests are how many of the arms, the last ones, are no part of the blocks. Each is put between the others at a
	// place that is drawn for each round, so that the design of the others is the same with them and without.
	Guests int
	// AllNeeded says that an arm that fails ends the experiment, with a *[Failed].
	AllNeeded bool
	// Record makes a sample durable before the next one is taken, also one that failed; nil keeps them in memory alone.
	Record func(Sample) error
	// Stopped reports whether the user has had enough, which ends the experiment with [ErrStopped]; nil for never.
	Stopped func() bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// ErrStopped says that the user has stopped an experiment.
var ErrStopped = errors.New("stopped by the user")

// Failed says that an arm does not work.
type Failed struct {
	Arm     int
	Failure *objective.Failure
	name    string
}

func (f *Failed) Error() string { return fmt.Sprintf("%s itself fails: %s", f.name, f.Failure) }

// patience is how many rounds may be lost to a throttled device. One that throttles more often than that always does.
const patience = 10

// Run measures rounds until the rule has enough, no arm is left, or the device is throttled again and again. It returns
// the rounds that count, also beside an error.
func (e *Experiment) Run(ctx context.Context, rule Rule) (rounds []Round, err error) {
	failed, lost := map[int]bool{}, 0
	for lost < patience {
		plan, err := rule.Next(rounds)
		if err != nil || plan.Samples == 0 {
			return rounds, err
		}
		for _, arm := range e.Arms {
			arm.Renew()
		}
		round, throttled, err := e.round(ctx, plan, failed)
		switch {
		case err != nil:
			return rounds, err
		case throttled != nil:
			if lost++; lost == patience && e.AllNeeded {
				return rounds, throttled
			}
		case len(round.Samples) == 0:
			return rounds, nil
		default:
			rounds = append(rounds, round)
		}
	}
	return rounds, nil
}

// round samples each arm once. It ends where the device is throttled.
func (e *Experiment) round(ctx context.Context, plan Plan,
	failed map[int]bool) (r Round, throttled *Failed, err error) {
	began := e.now()
	for _, arm := range e.Order(plan.Round) {
		if failed[arm] || plan.Arms != nil && !slices.Contains(plan.Arms, arm) {
			continue
		}
		if e.Stopped != nil && e.Stopped() {
			return r, nil, ErrStopped
		}
		start := e.now()
		outcome, err := e.Arms[arm].Sample(ctx, plan.Samples)
		if err != nil {
			return r, nil, fmt.Errorf("measuring %s: %w", e.Arms[arm], err)
		}
		sample := Sample{Arm: arm, Outcome: outcome, Asked: plan.Samples, Took: e.now().Sub(start)}
		if e.Record != nil {
			if err := e.Record(sample); err != nil {
				return r, nil, err
			}
		}
		if f := outcome.Failure; f != nil {
			failure := &Failed{arm, f, e.Arms[arm].String()}
			switch {
			case f.Reason == objective.Throttled:
				return r, failure, nil
			case e.AllNeeded:
				return r, nil, failure
			}
			failed[arm] = true
		}
		r.Samples = append(r.Samples, sample)
	}
	r.Took = e.now().Sub(began)
	return r, nil, nil
}

// Order returns the arms in the order of a round, whoever takes part.
func (e *Experiment) Order(round int) []int {
	designed := len(e.Arms) - e.Guests
	order := stats.NewOrders(designed, e.Seed, e.Stream).Round(round)
	const places = 0x706c61636573
	random := rand.New(rand.NewPCG(e.Seed^places, e.Stream<<32+uint64(round)))
	for guest := designed; guest < len(e.Arms); guest++ {
		order = slices.Insert(order, random.IntN(len(order)+1), guest)
	}
	return order
}

func (e *Experiment) now() time.Time {
	if e.Now == nil {
		return time.Now()
	}
	return e.Now()
}

// Fixed is the rule of a number of rounds that is known beforehand.
type Fixed struct {
	Rounds, Samples int
	// Observe is called before each round with how many are done; nil for none.
	Observe func(done, rounds int)
}

// Next goes on until the rounds are done.
func (f Fixed) Next(rounds []Round) (Plan, error) {
	if len(rounds) >= f.Rounds {
		return Plan{}, nil
	}
	if f.Observe != nil {
		f.Observe(len(rounds), f.Rounds)
	}
	return Plan{Samples: f.Samples, Round: len(rounds)}, nil
}

// Sampler samples prepared points, as an [objective.Evaluator] does.
type Sampler interface {
	Refresh()
	Sample(ctx context.Context, p objective.Prepared, samples int) (objective.Outcome, error)
}

// Point is a prepared point as an arm.
type Point struct {
	Sampler
	Prepared objective.Prepared
	// Name is what messages call it; empty stands for the point itself.
	Name string
}

var _ Arm = Point{}

// Renew ends the processes of the round before.
func (p Point) Renew() { p.Refresh() }

// Sample measures the point.
func (p Point) Sample(ctx context.Context, samples int) (objective.Outcome, error) {
	return p.Sampler.Sample(ctx, p.Prepared, samples)
}

func (p Point) String() string {
	if p.Name != "" {
		return p.Name
	}
	return p.Prepared.Point.String()
}

// Alone samples points with a rest between samples, so that a figure which stands alone does not depend on what the
// device did before. What is compared in turns has no need of that.
type Alone struct{ *objective.Evaluator }

// Sample lets the device rest before each sample.
func (a Alone) Sample(ctx context.Context, p objective.Prepared, samples int) (objective.Outcome, error) {
	return a.SampleAlone(ctx, p, samples)
}
