package confirm

import (
	"slices"

	"pawl/internal/stats"
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

// Contender is a point's samples in a confirmation, one slice per round.
type Contender struct {
	Point  space.Point
	Rounds [][]float64
}

// Milliseconds returns the median over rounds of the rounds' medians: one bad
// process does not move it.
func (c Contender) Milliseconds() float64 { return stats.Median(c.Medians()) }

// Medians returns the median of each round.
func (c Contender) Medians() []float64 {
	var medians []float64
	for _, samples := range c.Rounds {
		medians = append(medians, stats.Median(samples))
	}
	return medians
}

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

// Contenders groups the rounds of a phase's latest run by point, in the order of
// their first measurement, and keeps only the rounds that every point completed,
// so that rounds can be paired. A point that failed in any round is out.
func Contenders(rounds []Round, phase Phase) []Contender {
	rounds = Latest(rounds)
	byPoint := map[space.Point]map[int][]float64{}
	var order []space.Point
	failed := map[space.Point]bool{}
	for _, r := range rounds {
		if r.Phase != phase {
			continue
		}
		if r.Outcome.Failure != nil {
			failed[r.Point] = true
			continue
		}
		if byPoint[r.Point] == nil {
			byPoint[r.Point] = map[int][]float64{}
			order = append(order, r.Point)
		}
		byPoint[r.Point][r.Number] = r.Outcome.Samples
	}
	order = slices.DeleteFunc(order, func(p space.Point) bool { return failed[p] })
	var complete []int
	for number := range 1 + highest(rounds, phase) {
		if !slices.ContainsFunc(order, func(p space.Point) bool { return byPoint[p][number] == nil }) {
			complete = append(complete, number)
		}
	}
	var contenders []Contender
	for _, point := range order {
		c := Contender{Point: point}
		for _, number := range complete {
			c.Rounds = append(c.Rounds, byPoint[point][number])
		}
		contenders = append(contenders, c)
	}
	if len(complete) == 0 {
		return nil
	}
	return contenders
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

// Winner returns the contender that is most probably the best, by a
// confirmation with enough rounds to claim anything. That is not always the one
// with the lowest median: rounds are paired, and noise that hits a whole round
// counts for nobody.
func Winner(rounds []Round) (space.Point, bool) {
	contenders := Contenders(rounds, Confirmation)
	if len(contenders) == 0 || len(contenders[0].Rounds) < FewestRounds {
		return space.Point{}, false
	}
	return WinnerOf(contenders, ProbabilityBest(contenders))
}

// WinnerOf is Winner for those who know the probabilities, which take their time.
func WinnerOf(contenders []Contender, probabilities []float64) (space.Point, bool) {
	if len(contenders) == 0 || len(contenders[0].Rounds) < FewestRounds {
		return space.Point{}, false
	}
	best := 0
	for i, c := range contenders {
		ahead := probabilities[i] > probabilities[best]
		tied := probabilities[i] == probabilities[best]
		if ahead || tied && c.Milliseconds() < contenders[best].Milliseconds() {
			best = i
		}
	}
	return contenders[best].Point, true
}

// ProbabilityBest returns, for each contender, the probability that it is the
// fastest of them.
func ProbabilityBest(contenders []Contender) []float64 {
	var samples [][][]float64
	for _, c := range contenders {
		samples = append(samples, c.Rounds)
	}
	return stats.Bootstrap{}.ProbabilityBest(samples)
}
