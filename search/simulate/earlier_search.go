package simulate

import (
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
}

// help compares the runs of one entrant with those of another in one space.
func help(s *Recorded, helped, alone []run, budgets []int) []Help {
	var rows []Help
	for _, budget := range budgets {
		differences := make([]float64, len(helped))
		for seed := range helped {
			differences[seed] = s.fraction(helped[seed].best[budget-1]) - s.fraction(alone[seed].best[budget-1])
		}
		rows = append(rows, Help{Budget: budget, Gain: estimate(differences)})
	}
	return rows
}
