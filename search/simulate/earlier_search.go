package simulate

import (
	"slices"

	"pawl/search/sampler"
	"pawl/space"
)

// lessons is what a warm search is given: the first points and the memory of an earlier search of another space.
type lessons struct {
	first  []space.Point
	memory []sampler.Memory
}

// earlierSeed keeps the earlier search's luck apart from the later one's.
const earlierSeed = 1 << 40

// learn translates what a search of another space has seen.
func (r *Recorded) learn(other *Recorded, timed []sampler.Timed) lessons {
	return lessons{
		first:  sampler.Transfer(r.space.Pool(), timed),
		memory: []sampler.Memory{sampler.Remember(r.space.Space(), r.device(), other.device(), timed)},
	}
}

// Help compares an entrant that was helped with the same one without, seed by seed, at one budget.
type Help struct {
	Budget int `json:"budget"`
	// Gain is the mean difference of the fractions of the optimum.
	Gain Estimate `json:"gain"`
	// Worse is the share of seeds in which the help has cost more than 1 % of the optimum; Lost is the largest loss.
	Worse float64 `json:"worse"`
	Lost  float64 `json:"lost"`
	// Worst is the smallest fraction over the seeds, with the help and without.
	Worst        float64 `json:"worst"`
	WorstWithout float64 `json:"worst_without"`
}

// help compares the runs of one entrant with those of another in one space.
func help(s *Recorded, helped, alone []run, budgets []int) []Help {
	var rows []Help
	for _, budget := range budgets {
		h := Help{Budget: budget, Worst: 1, WorstWithout: 1}
		differences := make([]float64, len(helped))
		for seed := range helped {
			with, without := s.fraction(helped[seed].best[budget-1]), s.fraction(alone[seed].best[budget-1])
			differences[seed] = with - without
			h.Worst, h.WorstWithout = min(h.Worst, with), min(h.WorstWithout, without)
			if with < without-0.01 {
				h.Worse += 1 / float64(len(helped))
			}
		}
		h.Gain = estimate(differences)
		h.Lost = max(0, -slices.Min(differences))
		rows = append(rows, h)
	}
	return rows
}
