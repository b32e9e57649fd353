package sampler

import (
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
	if next, _ := a.modelsTurns(view); !next || len(view.Observations) > a.settings.GP.Most {
		return a.evolution.Next(view, rng)
	}
	return a.process.Next(view, rng)
}

// Acquisition is the process's to say, as long as it is asked.
func (a *autoSampler) Acquisition(view *View, points []int) []float64 {
	if _, all := a.modelsTurns(view); !all || len(view.Observations) > a.settings.GP.Most {
		return nil
	}
	return a.process.Acquisition(view, points)
}

// modelsTurns reports whether the next turn is the model's, and whether all were so far. It has a turn when what its
// asks take, this one with them, is no more than its share of what the trials before have taken. That goes by what
// an ask took on the machine where it was measured, not by a clock: the same answers lead to the same points.
func (a *autoSampler) modelsTurns(view *View) (next, all bool) {
	known, total := len(view.Observations), 0.0
	for _, o := range view.Observations {
		total += o.Seconds
	}
	if total == 0 || known < a.settings.GP.Startup {
		return true, true
	}
	asking, trials, fitted, auto := 0.0, 0.0, 0, a.settings.Auto
	next, all = true, true
	for n := range min(known+len(view.Pending), a.settings.GP.Most) + 1 {
		if n >= a.settings.GP.Startup {
			fit := a.process.fitCount(n, 0)
			ask := auto.AskAxis + auto.AskEach*float64(n)
			if fit != fitted {
				ask += auto.AskFit * float64(min(n, a.settings.GP.Fit))
			}
			ask *= float64(len(a.process.axes))
			if next = asking+ask <= auto.Share*trials; next {
				asking, fitted = asking+ask, fit
			}
			all = all && next
		}
		if n < known {
			trials += view.Observations[n].Seconds
		} else {
			trials += total / float64(known)
		}
	}
	return next, all
}
