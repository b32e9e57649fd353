package simulate

import (
	"slices"

	"pawl/internal/stats"
	"pawl/search/sampler"
)

// Calibration holds the searches' own estimates of what they have left behind
// against the truth, at one budget.
type Calibration struct {
	Budget int `json:"budget"`
	// Known is the number of searches that had an estimate.
	Known int `json:"known"`
	// Claimed is how often the bound should hold, Held how often it did.
	Claimed float64 `json:"claimed"`
	Held    float64 `json:"held"`
	// Bound and Truth are the medians of the bound and of what was really left,
	// as shares of the best time.
	Bound float64 `json:"bound"`
	Truth float64 `json:"truth"`
}

// estimate asks for the regret at the budgets of a run.
func (r *run) estimate(view *sampler.View, trial int, options Options, seed uint64) {
	if !slices.Contains(budgetsFor(options.Trials), trial+1) {
		return
	}
	if regret, known := sampler.EstimateRegret(view, *options.Settings, seed); known {
		if r.regrets == nil {
			r.regrets = map[int]sampler.Regret{}
		}
		r.regrets[trial+1] = regret
	}
}

// calibrations compares the estimates of runs with the recorded optimum; runs
// are by space and seed.
func (r *Report) calibrations(spaces []*Recorded, runs [][]run) []Calibration {
	var all []Calibration
	for _, budget := range r.Budgets {
		c := Calibration{Budget: budget}
		var bounds, truths []float64
		held := 0
		for i, s := range spaces {
			for _, run := range runs[i] {
				regret, known := run.regrets[budget]
				if !known {
					continue
				}
				truth := 1 - s.fraction(run.best[budget-1])
				c.Claimed = regret.Sure
				bounds, truths = append(bounds, regret.Left), append(truths, truth)
				// A part in a million is rounding.
				if truth <= regret.Left+1e-6 {
					held++
				}
			}
		}
		if c.Known = len(bounds); c.Known > 0 {
			c.Held = float64(held) / float64(c.Known)
			c.Bound, c.Truth = stats.Median(bounds), stats.Median(truths)
			all = append(all, c)
		}
	}
	return all
}
