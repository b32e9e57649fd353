package search

import (
	"math/rand/v2"

	"pawl/space"
)

// autoSampler is the default: what has won by measurement (docs/search.md has the
// figures).
//
// The Gaussian process finds the good region from few trials and doubts that it is
// the only one. The forest resolves small differences, which the process smooths
// away. How many of the told points are nearly as good as the best says which of the
// two is needed: where few are, the optimum is elsewhere; where many are, it is a small
// step away.
//
// Beyond a few hundred trials both take longer to ask than a trial's bookkeeping may
// cost, so the Parzen estimator takes over: it uses every observation and asks in
// milliseconds.
type autoSampler struct{ process, forest, parzen Sampler }

var _ Sampler = (*autoSampler)(nil)

const (
	// autoBegin is the number of trials that the process chooses in any case.
	autoBegin = 30
	// autoNear is how much of the best's speed a point may lack that counts as
	// nearly as good.
	autoNear = 0.1
	// autoCrowd is the share of such points from which on the forest has every
	// second turn, and autoFlat the one from which on it has all.
	autoCrowd = 1.0 / 3
	autoFlat  = 2.0 / 3
	// autoModels is the number of told trials up to which the models are asked.
	autoModels = gpMost
)

func newAuto(s *space.Space) Sampler {
	return &autoSampler{process: newGP(s), forest: newForest(s), parzen: newTPE(s)}
}

func (a *autoSampler) Next(view *View, rng *rand.Rand) int {
	switch {
	case len(view.Observations) > autoModels:
		return a.parzen.Next(view, rng)
	case forestsTurn(view):
		return a.forest.Next(view, rng)
	}
	return a.process.Next(view, rng)
}

// forestsTurn reports whether the next point is the forest's to choose.
func forestsTurn(view *View) bool {
	asked := len(view.Observations) + len(view.Pending)
	if asked < autoBegin {
		return false
	}
	crowd := nearlyBest(view)
	return crowd >= autoFlat || crowd >= autoCrowd && asked%2 == 0
}

// nearlyBest returns the share of the told points that are nearly as good as the
// best.
func nearlyBest(view *View) float64 {
	best, ok := view.Best()
	if !ok {
		return 0
	}
	near := 0
	for _, o := range view.Observations {
		if !o.Failed && o.Milliseconds*(1-autoNear) <= best.Milliseconds {
			near++
		}
	}
	return float64(near) / float64(len(view.Observations))
}
