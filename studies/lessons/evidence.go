package lessons

import (
	"fmt"
	"math"

	"pawl/objective"
	"pawl/objective/explain"
)

// mostEvidence is how much of it stands with one piece of advice.
const mostEvidence = 3

// figures are what the compiler says about every trial that an advice is about; the lower, the
// better.
var figures = map[string]struct {
	what   string // what a lower figure means
	figure func(*objective.Resources) (float64, bool)
}{
	"spills": {"lowered spills", func(r *objective.Resources) (float64, bool) {
		return float64(1 + r.SpillStores + r.SpillLoads), true // 1, so that none of it can be compared
	}},
	"too few warps": {"made room for more warps", func(r *objective.Resources) (float64, bool) {
		if r.Occupancy == nil || r.Occupancy.Warps == 0 {
			return 0, false
		}
		return 1 / float64(r.Occupancy.Warps), true
	}},
	"tail": {"shortened the tail", func(r *objective.Resources) (float64, bool) {
		if r.Occupancy == nil || r.Occupancy.Waves == 0 {
			return 0, false
		}
		return math.Ceil(r.Occupancy.Waves) / r.Occupancy.Waves, true
	}},
}

// Support adds to advice which parameters the trials have seen to move what it is about.
func Support(pasts []Past, advice []explain.Advice) {
	for i := range advice {
		about, known := figures[advice[i].Name]
		if !known {
			continue
		}
		advice[i].Evidence = evidence(pasts, about.figure, about.what)
	}
}

func evidence(pasts []Past, figure func(*objective.Resources) (float64, bool), what string) (lines []string) {
	for _, m := range Moves(pasts, func(o objective.Outcome) (float64, bool) {
		if o.Resources == nil {
			return 0, false
		}
		return figure(o.Resources)
	}) {
		if len(lines) < mostEvidence && m.clear() {
			lines = append(lines, fmt.Sprintf("%s %s → %s %s in %d of %d pairs of the study's trials", m.Param, m.From, m.To, what, m.Better, m.Pairs))
		}
	}
	return lines
}
