package confirm

import (
	"pawl/objective"
	"pawl/search/trial"
)

// Behind is the reason of a round in which a contender was not measured any more, because it
// was clearly behind. Its rounds before that count.
const Behind = "behind"

// Short is the reason where it was the slowest so far and the time was short.
const Short = "the time was short"

// LeftRound reports whether a round says that a contender was measured no further, or counts no further.
func LeftRound(f *objective.Failure) bool {
	return f.Reason == Behind || f.Reason == Short || f.Reason == Caught
}

// fails reports whether an outcome says that its point does not work: no samples, and
// neither the machine nor the others are why.
func fails(o objective.Outcome) bool {
	return o.Failure != nil && o.Failure.Reason != objective.Throttled && !LeftRound(o.Failure)
}

// highest is the number of a phase's last round, -1 for none.
func highest(rounds []trial.Round, phase trial.Phase) int {
	number := -1
	for _, r := range rounds {
		if r.Phase == phase {
			number = max(number, r.Number)
		}
	}
	return number
}
