package trial

import "math"

// Ending is a reason to ask for no more trials.
type Ending string

const (
	TrialsDone  Ending = "all trials done"
	BudgetSpent Ending = "time budget spent"
	UsedUp      Ending = "every valid point was tried"
	TargetMet   Ending = "the target was met"
	LittleLeft  Ending = "little is left to gain"
	Stopped     Ending = "stopped by the user"
	// AllWrong is when the reference is suspected. See ReferenceSuspected.
	AllWrong Ending = "every result disagrees with the reference"
)

// Abandons reports whether what is in flight is given up too.
func (e Ending) Abandons() bool { return e != "" && e != TrialsDone && e != UsedUp }

// Regret is an estimate of what a search has not found yet. Shares are of the
// best time: 0.015 means 1.5 % faster.
type Regret struct {
	// Left is a model's guess of the most that is left to gain anywhere. On the recorded spaces it holds as often as
	// Sure says; on others it may be far off, so that nobody is told a probability.
	Left float64 `json:"left"`
	Sure float64 `json:"sure"`
	// Draws is the number of trials whose points were drawn uniformly from all that were left.
	Draws int `json:"draws,omitempty"`
}

// Better bounds the share of the points that are faster than the best, with the probability Sure on every space: if
// more were, one of the draws would have been among them, and would be the best.
func (r Regret) Better() float64 { return 1 - math.Pow(1-r.Sure, 1/float64(r.Draws)) }
