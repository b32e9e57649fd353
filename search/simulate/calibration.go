package simulate

import "pawl/internal/stats"

// Calibration compares the searches' own estimates of what they have left behind with the truth.
type Calibration struct {
	// Known is the number of searches that had an estimate.
	Known int `json:"known"`
	// Claimed is how often the bound should hold, Held how often it did.
	Claimed float64 `json:"claimed"`
	Held    float64 `json:"held"`
	// Bound and Truth are the medians of the bound and of what was really left, as shares of the best time.
	Bound float64 `json:"bound"`
	Truth float64 `json:"truth"`
}

// calibration compares the estimates of runs with the recorded optimum; runs are by space and seed.
func calibration(spaces []*Recorded, runs [][]run) *Calibration {
	c := &Calibration{}
	var bounds, truths []float64
	for i, s := range spaces {
		for _, run := range runs[i] {
			if run.regret == nil {
				continue
			}
			truth := 1 - s.fraction(run.best[len(run.best)-1])
			c.Claimed = run.regret.Sure
			bounds, truths = append(bounds, run.regret.Left), append(truths, truth)
			// A part in a million is rounding.
			if truth <= run.regret.Left+1e-6 {
				c.Held++
			}
		}
	}
	if c.Known = len(bounds); c.Known == 0 {
		return nil
	}
	c.Held /= float64(c.Known)
	c.Bound, c.Truth = stats.Median(bounds), stats.Median(truths)
	return c
}
