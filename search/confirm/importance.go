package confirm

import (
	"cmp"
	"math"
	"slices"

	"pawl/internal/stats"
	"pawl/search/sampler"
	"pawl/space"
)

// Importance is the share of the variation in log time that one parameter
// explains by itself.
type Importance struct {
	Name string `json:"name"`
	// Share is between 0 and 1, corrected for the number of values (the
	// epsilon-squared of a one-way analysis of variance): a parameter that
	// does nothing gets about 0, however many values it has.
	Share float64 `json:"share"`
}

// Importances returns the parameters, most important first, by the times of a
// study. Parameters that nothing is known about have share 0 and keep the
// order of their declaration. Interactions count for nobody, and a sampler
// that has homed in on good points hides what separates good from bad: it is a
// hint, where the ablation is a measurement.
func Importances(s *space.Space, timed []sampler.Timed) []Importance {
	var rows []space.Row
	var logs []float64
	for _, t := range timed {
		if row, err := s.Row(t.Point); err == nil {
			rows = append(rows, row)
			logs = append(logs, math.Log(t.Milliseconds))
		}
	}
	var importances []Importance
	for i, p := range s.Params() {
		groups := make([][]float64, len(p.Values))
		for j, row := range rows {
			groups[row[i]] = append(groups[row[i]], logs[j])
		}
		importances = append(importances, Importance{p.Name, epsilonSquared(groups)})
	}
	slices.SortStableFunc(importances, func(a, b Importance) int { return cmp.Compare(b.Share, a.Share) })
	return importances
}

// epsilonSquared is (SSB - (k-1)*MSW) / SST for k groups, not below 0. See
// Kelley, "An unbiased correlation ratio measure", PNAS 21 (1935).
func epsilonSquared(groups [][]float64) float64 {
	all := slices.Concat(groups...)
	groups = slices.DeleteFunc(slices.Clone(groups), func(g []float64) bool { return len(g) == 0 })
	if len(groups) < 2 || len(all) <= len(groups) {
		return 0
	}
	var between, within float64
	for _, g := range groups {
		mean, grand := stats.Mean(g), stats.Mean(all)
		between += float64(len(g)) * (mean - grand) * (mean - grand)
		for _, x := range g {
			within += (x - mean) * (x - mean)
		}
	}
	if between+within == 0 {
		return 0
	}
	meanSquareWithin := within / float64(len(all)-len(groups))
	return max(0, (between-float64(len(groups)-1)*meanSquareWithin)/(between+within))
}
