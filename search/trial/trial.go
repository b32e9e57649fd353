// Package trial has the words of a study: trials, rounds, goals, and how a search ends. A search makes them, a store
// keeps them and reports read them, so that none of the three needs another one for it.
//
// A Trial is a point that was asked, with its outcome. A Round is one more measurement of a point afterwards: a
// second look, the confirmation of finalists, or one of the phases behind it.
package trial

import (
	"cmp"
	"slices"
	"time"

	"pawl/objective"
	"pawl/space"
)

// Trial is one point's way through the study.
type Trial struct {
	// Number counts from 0 in the order of asking.
	Number int
	Point  space.Point
	// Finished says that Outcome is there; before that the trial is pending.
	Finished bool
	Outcome  objective.Outcome
	// Elapsed is the study's active time when the trial finished.
	Elapsed time.Duration
}

// OK reports whether the trial has a verified time.
func (t Trial) OK() bool { return t.Finished && t.Outcome.Failure == nil }

// Ranking returns the trials with a verified time, fastest first.
func Ranking(trials []Trial) []Trial {
	var ranked []Trial
	times := map[int]float64{}
	for _, t := range trials {
		if t.OK() {
			ranked = append(ranked, t)
			times[t.Number] = t.Outcome.Milliseconds()
		}
	}
	slices.SortStableFunc(ranked, func(a, b Trial) int { return cmp.Compare(times[a.Number], times[b.Number]) })
	return ranked
}

// Past is what the runs of a study have recorded so far. The zero Past is a new study.
type Past struct {
	Trials []Trial
	Rounds []Round
	Conclusion
}

// Standing returns the rounds that still count: those of the latest run of each
// phase, without points that have failed a check since.
func (p Past) Standing() []Round { return StandingRounds(p.Trials, p.Rounds) }

// StandingRounds is [Past.Standing] of trials and rounds that are not past yet.
func StandingRounds(trials []Trial, rounds []Round) []Round {
	failed := map[space.Point]bool{}
	for _, t := range trials {
		failed[t.Point] = t.Finished && !t.OK()
	}
	return Standing(rounds, func(p space.Point) bool { return failed[p] })
}

// Conclusion is what a search says about itself as a whole.
type Conclusion struct {
	// Ended says why the search asked for no more.
	Ended Ending `json:"ended"`
	// Elapsed is the active time and Spending where it went, over all runs of the study.
	Elapsed time.Duration `json:"elapsed_ns"`
	// Regret estimates what the search has left behind; nil when too little is known.
	Regret   *Regret  `json:"regret,omitempty"`
	Spending Spending `json:"spending"`
	// Dead are the parameters that never change the machine code.
	Dead []string `json:"dead,omitempty"`
}

// Spending is where a study's time went. Compiling is not among it: it runs
// beside the rest, in lanes of its own, and is felt as Waiting.
type Spending struct {
	// Asking is the sampler's time.
	Asking time.Duration `json:"asking"`
	// Waiting is the time in which the device had nothing to do because the
	// next point was not compiled yet.
	Waiting time.Duration `json:"waiting"`
	// Looking is the time in which the device would have waited too, and got checks
	// ready or took second looks.
	Looking time.Duration `json:"looking,omitempty"`
	// Device is the time in which points were checked and measured.
	Device time.Duration `json:"device"`
	// Storing is the time for making results durable.
	Storing time.Duration `json:"storing"`
	// Confirming is everything after the search.
	Confirming time.Duration `json:"confirming"`
}
