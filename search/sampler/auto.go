package sampler

import (
	"math"
	"math/rand/v2"

	"pawl/space"
)

// autoSampler is the default: what has won by measurement (docs/search.md has the
// figures).
//
// The Gaussian process finds the good region from few trials and goes on looking as if it were not
// the only one. The forest resolves small differences, which the process smooths
// away. How many of the observed points are nearly as good as the best says which of
// the two is needed: where few are, the optimum is elsewhere; where many are, it is a
// small step away.
//
// Beyond a few hundred trials both take longer to ask than a trial's bookkeeping may
// cost, so the Parzen estimator takes over: it uses every observation and asks in
// milliseconds. Where trials themselves take milliseconds, that is too long as well: models
// have as many turns as fit into their share of the time, and evolution, which asks at once, the others.
type autoSampler struct {
	settings                  Settings
	process                   *gpSampler
	forest, parzen, evolution Sampler
}

var _ Ranker = (*autoSampler)(nil)

func newAuto(c common, s *space.Space) *autoSampler {
	return &autoSampler{
		settings: c.settings, process: newGP(c, s), forest: newForest(c, s), parzen: &tpeSampler{c},
		evolution: &evolveSampler{c},
	}
}

func (a *autoSampler) Next(view *View, rng *rand.Rand) int {
	switch {
	case (len(view.Observations)+len(view.Pending))%a.every(view) > 0:
		return a.evolution.Next(view, rng)
	case len(view.Observations) > a.settings.GP.Most:
		return a.parzen.Next(view, rng)
	case a.settings.Auto.forestsTurn(view):
		return a.forest.Next(view, rng)
	}
	return a.process.Next(view, rng)
}

// Acquisition is the process's to say, also of the forest's points.
func (a *autoSampler) Acquisition(view *View, points []int) []float64 {
	if len(view.Observations) > a.settings.GP.Most || a.every(view) > 1 {
		return nil
	}
	return a.process.Acquisition(view, points)
}

// every returns after how many asks a model has a turn, so that asking takes no more than its share of what trials
// take. It goes by what an ask takes on the machine where that was measured, not by a clock: the same answers lead to
// the same points.
func (a *autoSampler) every(view *View) int {
	observed, seconds := len(view.Observations), 0.0
	for _, o := range view.Observations {
		seconds += o.Seconds / float64(observed)
	}
	if seconds == 0 || observed < a.settings.GP.Startup {
		return 1
	}
	if observed > a.settings.GP.Most {
		observed = 0 // the estimator's asks do not grow like that
	}
	auto := a.settings.Auto
	ask := (auto.AskAxis*float64(len(a.process.axes)) + auto.AskEach*float64(observed)) *
		min(1, float64(view.FreeCount())/float64(a.settings.GP.Candidates))
	return max(1, int(math.Ceil(ask/(auto.Share*seconds))))
}

// forestsTurn reports whether the next point is the forest's to choose.
func (a Auto) forestsTurn(view *View) bool {
	asked := len(view.Observations) + len(view.Pending)
	if asked < a.Begin {
		return false
	}
	crowd := a.nearlyBest(view)
	return crowd >= a.Flat || crowd >= a.Crowd && asked%2 == 0
}

// nearlyBest returns the share of the observed points that are nearly as good as the best.
func (a Auto) nearlyBest(view *View) float64 {
	best, ok := view.Best()
	if !ok {
		return 0
	}
	near := 0
	for _, o := range view.Observations {
		if !o.Failed && o.Milliseconds*(1-a.Near) <= best.Milliseconds {
			near++
		}
	}
	return float64(near) / float64(len(view.Observations))
}
