package trial

import (
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
	Number int
	// OrderSeed drew the orders of the run; 0 for second looks and for rounds of an earlier pawl.
	OrderSeed uint64
	Point     space.Point
	Outcome   objective.Outcome
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

// Standing returns the rounds that still count: those of the latest run of each
// phase, without points that have failed a check since. An ablation explains the
// confirmation before it, and nothing after a later one. Those of Dispatch are about points
// of other studies.
func Standing(rounds []Round, failed func(space.Point) bool) []Round {
	return slices.DeleteFunc(Latest(rounds), func(r Round) bool { return r.Phase == Dispatch || failed(r.Point) })
}

// Latest returns the rounds of the latest run of each phase, as a copy.
func Latest(rounds []Round) []Round {
	last := map[Phase]int{}
	for _, r := range rounds {
		last[r.Phase] = max(last[r.Phase], r.Run)
	}
	return slices.DeleteFunc(slices.Clone(rounds), func(r Round) bool {
		return r.Phase != SecondLook && r.Run != last[r.Phase] || r.Phase == Ablation && r.Run < last[Confirmation]
	})
}
