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
// the only one. Beyond a few hundred trials it takes longer to ask than a trial's bookkeeping may
// cost, and where trials themselves take milliseconds it does from the start: the model has as many
// turns as fit into its share of the time, and evolution, which asks at once, the others.
type autoSampler struct {
	settings  Settings
	process   *gpSampler
	evolution Sampler
}

var _ Ranker = (*autoSampler)(nil)

func newAuto(c common, s *space.Space) *autoSampler {
	return &autoSampler{settings: c.settings, process: newGP(c, s), evolution: &evolveSampler{c}}
}

func (a *autoSampler) Next(view *View, rng *rand.Rand) int {
	if len(view.Observations) > a.settings.GP.Most || (len(view.Observations)+len(view.Pending))%a.every(view) > 0 {
		return a.evolution.Next(view, rng)
	}
	return a.process.Next(view, rng)
}

// Acquisition is the process's to say, as long as it is asked.
func (a *autoSampler) Acquisition(view *View, points []int) []float64 {
	if len(view.Observations) > a.settings.GP.Most || a.every(view) > 1 {
		return nil
	}
	return a.process.Acquisition(view, points)
}

// every returns after how many asks the model has a turn, so that asking takes no more than its share of what trials
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
	auto := a.settings.Auto
	ask := (auto.AskAxis*float64(len(a.process.axes)) + auto.AskEach*float64(observed)) *
		min(1, float64(view.FreeCount())/float64(a.settings.GP.Candidates))
	return max(1, int(math.Ceil(ask/(auto.Share*seconds))))
}
