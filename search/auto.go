package search

import (
	"math/rand/v2"

	"pawl/space"
)

// autoSampler is the default: what has won by measurement. Up to a few hundred
// trials that is the Gaussian process alone. Taking turns with the Parzen
// estimator, with a second kernel or with steps beside the best points was
// measured too, and was worse or no better: docs/search.md has the figures.
//
// Beyond that the process leaves observations out and still takes longer to ask
// than a trial's bookkeeping may cost, so the Parzen estimator takes over: it
// uses every observation and asks in milliseconds.
type autoSampler struct{ process, parzen Sampler }

var _ Sampler = (*autoSampler)(nil)

// autoProcess is the number of told trials up to which the process is asked.
const autoProcess = gpMost

func newAuto(s *space.Space) Sampler { return &autoSampler{process: newGP(s), parzen: newTPE(s)} }

func (a *autoSampler) Next(view *View, rng *rand.Rand) int {
	if len(view.Observations) > autoProcess {
		return a.parzen.Next(view, rng)
	}
	return a.process.Next(view, rng)
}
