package confirm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"pawl/objective"
	"pawl/space"
)

// Round is one more measurement of a trial's point.
type Round struct {
	// Phase is SecondLook, Confirmation, Ablation, Across or Dispatch.
	Phase Phase
	// Run counts how often a set of contenders was measured against each other.
	// Rounds of different runs are of different days or of different contenders,
	// and are never compared: only the latest of a phase counts. Second looks
	// belong to none.
	Run int
	// Number counts the rounds of a phase from 0, over all runs. Contenders of one
	// round are measured close together, in random order, each in a fresh
	// process; on a GPU in one that the round shares.
	// Second looks are counted for each point by itself.
	Number  int
	Point   space.Point
	Outcome objective.Outcome
}

// Phase is a part of a study after a trial's own measurement.
type Phase string

const (
	// SecondLook measures the fastest again while the search goes on.
	SecondLook Phase = "second look"
	// Confirmation compares the finalists with the default.
	Confirmation Phase = "confirmation"
	// Ablation measures the points from the default to the winner.
	Ablation Phase = "ablation"
	// Across compares the winner with the default on another workload. Rounds of
	// different workloads are kept apart: no function here is given those of two.
	Across Phase = "across"
	// Dispatch compares the winners of all workloads on the study's own.
	Dispatch Phase = "dispatch"
)

// FewestRounds is the number of rounds below which nothing is claimed, and so
// the number that is measured even when the time is over.
const FewestRounds = 3

// Standing returns the rounds that still count: those of the latest run of each
// phase, without points that have failed a check since. An ablation explains the
// confirmation before it, and nothing after a later one. Those of Dispatch are about points
// of other studies.
func Standing(rounds []Round, failed func(space.Point) bool) []Round {
	return slices.DeleteFunc(Latest(rounds), func(r Round) bool { return r.Phase == Dispatch || failed(r.Point) })
}

// Latest returns the rounds of the latest run of each phase, as a copy.
func Latest(rounds []Round) []Round {
	confirmation, ablation := lastRun(rounds, Confirmation), lastRun(rounds, Ablation)
	across, dispatch := lastRun(rounds, Across), lastRun(rounds, Dispatch)
	return slices.DeleteFunc(slices.Clone(rounds), func(r Round) bool {
		switch r.Phase {
		case Confirmation:
			return r.Run != confirmation
		case Ablation:
			return r.Run != ablation || ablation < confirmation
		case Across:
			return r.Run != across
		case Dispatch:
			return r.Run != dispatch
		}
		return false
	})
}

// lastRun returns the number of a phase's latest run, -1 for none.
func lastRun(rounds []Round, phase Phase) int {
	run := -1
	for _, r := range rounds {
		if r.Phase == phase {
			run = max(run, r.Run)
		}
	}
	return run
}

func highest(rounds []Round, phase Phase) int {
	number := -1
	for _, r := range rounds {
		if r.Phase == phase {
			number = max(number, r.Number)
		}
	}
	return number
}

// measure measures every contender once per round, in an order drawn anew for each
// round, until the rounds are done or the time is over. What an earlier run has
// measured in full, of these very contenders, is not measured again; anything less
// of it does not count.
func (c *confirmation) measure(ctx context.Context, phase Phase, contenders []objective.Prepared) error {
	if measured, err := c.measuredBefore(phase, contenders); measured || err != nil {
		return err
	}
	run, first := c.next(phase)
	for round := range c.options.Rounds {
		if round >= FewestRounds && c.Late(phase) {
			return nil
		}
		c.Progress(phase, round)
		c.Refresh()
		rng := rand.New(rand.NewPCG(c.options.Seed, uint64(round)))
		for _, i := range rng.Perm(len(contenders)) {
			if c.Stopped() {
				return errStopped
			}
			if err := c.measureOnce(ctx, Round{Phase: phase, Run: run, Number: first + round}, contenders[i]); err != nil {
				return err
			}
		}
	}
	c.Progress(phase, c.options.Rounds)
	return nil
}

// next returns the number of the next run, and that of its first round.
func (c *confirmation) next(phase Phase) (run, first int) {
	run = 1 +
		max(lastRun(c.Rounds(), Confirmation), lastRun(c.Rounds(), Ablation), lastRun(c.Rounds(), Across),
			lastRun(c.Rounds(), Dispatch))
	return run, 1 + highest(c.Rounds(), phase)
}

// measuredBefore reports whether the phase's latest run, in an earlier process, was
// one of exactly these contenders and has as many rounds as are wanted, or as there
// is time for.
func (c *confirmation) measuredBefore(phase Phase, contenders []objective.Prepared) (bool, error) {
	counts := map[space.Point]int{}
	for _, r := range Latest(c.Rounds()) {
		if r.Phase != phase {
			continue
		}
		at := slices.IndexFunc(contenders, func(p objective.Prepared) bool { return p.Point == r.Point })
		if at < 0 {
			return false, nil
		}
		if err := SameBinary(r.Outcome, contenders[at]); err != nil {
			return false, err
		}
		counts[r.Point]++
	}
	enough := c.options.Rounds
	if c.Late(phase) {
		enough = min(enough, FewestRounds)
	}
	missing := slices.ContainsFunc(contenders, func(p objective.Prepared) bool { return counts[p.Point] < enough })
	return !missing, nil
}

func (c *confirmation) measureOnce(ctx context.Context, round Round, p objective.Prepared) (err error) {
	round.Point = p.Point
	if round.Outcome, err = c.evaluator.Sample(ctx, p, c.options.Samples); err != nil {
		return fmt.Errorf("measuring %s again: %w", p.Point, err)
	}
	return c.Record(round)
}
