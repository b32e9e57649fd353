package search

import (
	"math/rand/v2"

	"pawl/space"
)

// autoSampler is the default: what has won by measurement (docs/search.md has the
// figures). At first that is the Gaussian process alone. Later the forest has every
// second turn: it resolves small differences among the best points, which the process
// with its smoothness and its doubts passes over.
//
// Beyond a few hundred trials both take longer to ask than a trial's bookkeeping may
// cost, so the Parzen estimator takes over: it uses every observation and asks in
// milliseconds.
type autoSampler struct{ process, forest, parzen Sampler }

var _ Sampler = (*autoSampler)(nil)

const (
	// autoAlone is the number of trials that the process chooses alone.
	autoAlone = 100
	// autoModels is the number of told trials up to which the models are asked.
	autoModels = gpMost
)

func newAuto(s *space.Space) Sampler {
	return &autoSampler{process: newGP(s), forest: newForest(s), parzen: newTPE(s)}
}

func (a *autoSampler) Next(view *View, rng *rand.Rand) int {
	asked := len(view.Observations) + len(view.Pending)
	switch {
	case len(view.Observations) > autoModels:
		return a.parzen.Next(view, rng)
	case asked >= autoAlone && asked%2 == 0:
		return a.forest.Next(view, rng)
	}
	return a.process.Next(view, rng)
}
