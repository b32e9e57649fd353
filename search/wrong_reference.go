package search

import (
	"pawl/objective"
	"pawl/search/trial"
)

// suspectAfter is how many different kernels must be wrong, with none that is right,
// before the reference is the suspect.
const suspectAfter = 4

// ReferenceSuspected reports whether what all points disagree with is more likely to
// be wrong than they are: the default gives wrong results, no point gives right ones,
// and so many different ones, or all that were tried, were compared. A search without
// a right default has nothing to compare with, so that going on is of little use.
func ReferenceSuspected(trials []trial.Trial, all bool) bool {
	if len(trials) == 0 || !wrong(trials[0]) {
		return false
	}
	kernels := map[string]bool{}
	for _, t := range trials {
		switch {
		case t.OK():
			return false
		case wrong(t) && t.Outcome.Binary != "":
			kernels[t.Outcome.Binary] = true // points that differ in nothing are one
		case wrong(t):
			kernels[t.Point.String()] = true
		}
	}
	return len(kernels) >= suspectAfter || all && len(kernels) > 1
}

func wrong(t trial.Trial) bool {
	return t.Finished && t.Outcome.Failure != nil && t.Outcome.Failure.Reason == objective.WrongResult
}
