package confirm

import (
	"fmt"
	"slices"
	"time"

	"pawl/internal/collect"
	"pawl/internal/stats"
	"pawl/objective"
	"pawl/search/trial"
	"pawl/space"
)

// A point must not win by what the declared data looks like. So the contenders are measured on the other kinds of data
// too, in the processes of the rounds: in the first rounds on all kinds, then on one in turn. One that is slower than
// the default on a kind is caught: it is out like one that is behind.

// Caught is the reason of a round in which a contender was found to be slower than the default on another kind of data.
const Caught = "slower on other data"

const (
	// allKinds is how many rounds begin with all kinds: a spread takes two.
	allKinds = 2
	// kindSamples is how many samples a kind gets in a round. Processes differ more than samples.
	kindSamples = 2
	// kindCost is about what a kind takes, in samples: its inputs, the check, a launch to warm up.
	kindCost = kindSamples + 4
	// TolerableLoss is what a winner may lose on a kind of data.
	TolerableLoss = 0.02
)

// Ratio compares the times of rounds on a kind of data: above 1, the point is faster than what it is compared with.
type Ratio struct {
	Kind string
	// Base and Milliseconds are medians over rounds: of what it is compared with, and of the point on this kind.
	Base, Milliseconds float64
	Speedup            float64
	Interval           stats.Interval
	Rounds             int
}

// Slower reports whether the point is slower by more than is tolerable, in size and in evidence. One round is none: its
// process may have been disturbed.
func (r Ratio) Slower() bool { return r.seemsSlower() && r.Interval.High < 1 && r.Rounds > 1 }

func (r Ratio) seemsSlower() bool { return r.Speedup < 1-TolerableLoss }

// OnKinds compares a point with another one on each kind of data on which both were measured, in the rounds of the
// confirmation that still count. Their intervals hold together at the level; the rounds on the declared data say as
// well how far rounds differ.
func OnKinds(rounds []trial.Round, base, point space.Point, level float64) []Ratio {
	of := func(p space.Point) map[int]objective.Outcome { return outcomes(rounds, p) }
	before, after := of(base), of(point)
	var declared []float64
	for number, b := range before {
		if c := after[number]; len(c.Samples) > 0 {
			declared = append(declared, stats.Median(b.Samples)/stats.Median(c.Samples))
		}
	}
	slices.Sort(declared) // sums do not depend on the order of a map
	return ratios(rounds, level, declared, func(kind string, number int) (b, c []float64) {
		return onKind(before[number], kind), onKind(after[number], kind)
	})
}

// FromDeclared compares a point on each kind of data with itself on the declared one, in the same processes.
func FromDeclared(rounds []trial.Round, point space.Point, level float64) []Ratio {
	all := outcomes(rounds, point)
	return ratios(rounds, level, nil, func(kind string, number int) (b, c []float64) {
		return all[number].Samples, onKind(all[number], kind)
	})
}

func outcomes(rounds []trial.Round, point space.Point) map[int]objective.Outcome {
	found := map[int]objective.Outcome{}
	for _, r := range trial.Latest(rounds) {
		if r.Phase == trial.Confirmation && r.Point == point && r.Outcome.Failure == nil {
			found[r.Number] = r.Outcome
		}
	}
	return found
}

func onKind(o objective.Outcome, kind string) []float64 {
	k, _ := collect.First(o.Kinds, func(k objective.KindSamples) bool { return k.Kind == kind })
	return k.Samples
}

func ratios(rounds []trial.Round, level float64, declared []float64,
	sides func(kind string, number int) (base, point []float64)) (all []Ratio) {
	var kinds []string
	for _, r := range rounds {
		for _, k := range r.Outcome.Kinds {
			if !slices.Contains(kinds, k.Kind) {
				kinds = append(kinds, k.Kind)
			}
		}
	}
	var groups [][]float64
	for _, kind := range kinds {
		var before, after, group []float64
		for number := range 1 + highest(rounds, trial.Confirmation) {
			if b, c := sides(kind, number); len(b) > 0 && len(c) > 0 {
				before, after = append(before, stats.Median(b)), append(after, stats.Median(c))
				group = append(group, stats.Median(b)/stats.Median(c))
			}
		}
		if len(group) == 0 {
			continue
		}
		groups = append(groups, group)
		all = append(all, Ratio{Kind: kind, Base: stats.Median(before), Milliseconds: stats.Median(after),
			Rounds: len(group)})
	}
	if len(groups) == 0 {
		return nil
	}
	means, intervals := stats.PooledRatios(append(groups, declared), 1-(1-level)/float64(len(groups)))
	for i := range all {
		all[i].Speedup, all[i].Interval = means[i], intervals[i]
	}
	return all
}

// kindsOf are the kinds of data that a round measures beside the declared one.
func (c *confirmation) kindsOf(run run, contenders []objective.Prepared) []string {
	kinds := c.options.Kinds
	if run.phase != trial.Confirmation || len(kinds) == 0 {
		return nil
	}
	before := len(collect.Distinct(collect.Each(c.of(run), func(r trial.Round) int { return r.Number })))
	spare := c.Left() // beside the rounds of an interval
	if spare != Unlimited {
		spare -= time.Duration(max(Needed(len(contenders)-1)-before, 1)) * c.round(contenders, 1)
	}
	switch {
	case before < allKinds && spare >= allKinds*c.round(contenders, len(kinds)*kindCost):
		return kinds
	case spare >= c.round(contenders, kindCost):
		return []string{c.nextKind(run, contenders, before)}
	}
	return nil
}

// nextKind is the kind whose turn it is, or one on which a contender seemed slower than the default in its only round.
func (c *confirmation) nextKind(run run, contenders []objective.Prepared, before int) string {
	for _, p := range contenders {
		seen := OnKinds(c.of(run), c.search.Pool().Space().Default(), p.Point, 0.95)
		if r, doubtful := collect.First(seen, func(r Ratio) bool { return r.Rounds == 1 && r.seemsSlower() }); doubtful {
			return r.Kind
		}
	}
	return c.options.Kinds[before%len(c.options.Kinds)]
}

// catch records which contenders of a run are faster than the default on the declared data, and slower on another kind.
// One that is slower on both is not fitted to anything: it just loses.
func (c *confirmation) catch(run run, level float64) error {
	initial, contenders := c.search.Pool().Space().Default(), Contenders(c.of(run), run.phase)
	base, _ := collect.First(contenders, func(b Contender) bool { return b.Point == initial })
	for _, contender := range contenders {
		if contender.Point == initial || len(base.Rounds) == 0 || contender.Milliseconds() >= base.Milliseconds() {
			continue
		}
		slower := collect.Where(OnKinds(c.of(run), initial, contender.Point, level), Ratio.Slower)
		if len(slower) == 0 {
			continue
		}
		worst := slices.MinFunc(slower, func(a, b Ratio) int {
			if a.Speedup < b.Speedup {
				return -1
			}
			return 1
		})
		failure := &objective.Failure{Stage: objective.Bench, Reason: Caught, Detail: fmt.Sprintf(
			"takes %.2f times as long as the default on %s data", 1/worst.Speedup, worst.Kind)}
		number := 1 + highest(c.Rounds(), run.phase)
		if err := c.record(run, number, contender.Point, objective.Outcome{Failure: failure}); err != nil {
			return err
		}
	}
	return nil
}

// CaughtBy returns the points that were caught, and how, in all runs of a confirmation.
func CaughtBy(rounds []trial.Round) (caught []trial.Round) {
	return collect.Where(rounds, func(r trial.Round) bool {
		return r.Phase == trial.Confirmation && r.Outcome.Failure != nil && r.Outcome.Failure.Reason == Caught
	})
}

// passOver are the points that are no finalists any more: those that were caught in an earlier run, or in any where
// the confirmation goes on, and those that have all that these share and the default has not.
func (c *confirmation) passOver() func(space.Point) bool {
	last := 0
	for _, r := range trial.Latest(c.Rounds()) {
		if r.Phase == trial.Confirmation {
			last = r.Run
		}
	}
	caught := collect.Where(CaughtBy(c.Rounds()), func(r trial.Round) bool { return c.goesOn || r.Run < last })
	if len(caught) == 0 {
		return func(space.Point) bool { return false }
	}
	initial := c.search.Pool().Space().Default()
	shared := collect.Where(caught[0].Point.Assignments(), func(a space.Assignment) bool {
		value, _ := initial.Get(a.Name)
		return a.Value != value && !slices.ContainsFunc(caught, func(r trial.Round) bool {
			other, _ := r.Point.Get(a.Name)
			return other != a.Value
		})
	})
	// A value that a contender has which was not caught is not why.
	if apart := collect.Where(shared, func(a space.Assignment) bool { return !c.cleared(a, initial) }); len(apart) > 0 {
		shared = apart
	}
	return func(p space.Point) bool {
		if slices.ContainsFunc(caught, func(r trial.Round) bool { return r.Point == p }) {
			return true
		}
		return len(shared) > 0 && !slices.ContainsFunc(shared, func(a space.Assignment) bool {
			value, _ := p.Get(a.Name)
			return value != a.Value
		})
	}
}

// cleared reports whether a point with a value was measured on all kinds of data and not caught.
func (c *confirmation) cleared(a space.Assignment, initial space.Point) bool {
	caught := CaughtBy(c.Rounds())
	return slices.ContainsFunc(c.Rounds(), func(r trial.Round) bool {
		value, _ := r.Point.Get(a.Name)
		return value == a.Value && r.Point != initial && len(r.Outcome.Kinds) == len(c.options.Kinds) &&
			!slices.ContainsFunc(caught, func(other trial.Round) bool { return other.Point == r.Point })
	})
}

// leadersCaught reports whether a point that was caught in the latest run was faster on the declared data than the
// winner, or there is none, and there is time to measure others in its place.
func (c *confirmation) leadersCaught(contenders []objective.Prepared) bool {
	winner, found := Winner(c.standing())
	if !found || winner == c.search.Pool().Space().Default() {
		return len(c.caughtNow()) > 0
	}
	if c.checking+time.Duration(Needed(len(contenders)-1))*c.round(contenders, 1) > c.Left() {
		return false // the winner has its interval, and another run might not get one
	}
	milliseconds := func(p space.Point) float64 {
		var medians []float64
		for _, o := range outcomes(c.Rounds(), p) {
			medians = append(medians, stats.Median(o.Samples))
		}
		return stats.Median(medians)
	}
	return slices.ContainsFunc(c.caughtNow(), func(r trial.Round) bool {
		return milliseconds(r.Point) < milliseconds(winner)
	})
}

// caughtNow are those of the latest run.
func (c *confirmation) caughtNow() []trial.Round { return CaughtBy(trial.Latest(c.Rounds())) }
