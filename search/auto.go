package search

import (
	"math/rand/v2"

	"pawl/space"
)

// autoSampler is the default: what has won by measurement (docs/search.md has the
// figures). At first that is the Gaussian process alone. Later the Parzen
// estimator has every fourth turn: it keeps to the best points, which the process
// with its doubts leaves too soon.
//
// Beyond a few hundred trials the process leaves observations out and still takes
// longer to ask than a trial's bookkeeping may cost, so the Parzen estimator takes
// over: it uses every observation and asks in milliseconds.
type autoSampler struct{ process, parzen Sampler }

var _ Sampler = (*autoSampler)(nil)

const (
	// autoAlone is the number of trials that the process chooses alone.
	autoAlone = 100
	// autoTurn is how often it is the other's turn after those.
	autoTurn = 4
	// autoProcess is the number of told trials up to which the process is asked.
	autoProcess = gpMost
)

func newAuto(s *space.Space) Sampler { return &autoSampler{process: newGP(s), parzen: newTPE(s)} }

func (a *autoSampler) Next(view *View, rng *rand.Rand) int {
	asked := len(view.Observations) + len(view.Pending)
	if len(view.Observations) > autoProcess || asked >= autoAlone && asked%autoTurn == 0 {
		return a.parzen.Next(view, rng)
	}
	return a.process.Next(view, rng)
}
