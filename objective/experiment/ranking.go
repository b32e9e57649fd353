package experiment

import (
	"math"

	"pawl/internal/stats"
)

// Times returns the samples of an arm by round, of the rounds that it took part in.
func Times(rounds []Round, arm int) (times [][]float64) {
	for _, r := range rounds {
		if samples := r.Times(arm); samples != nil {
			times = append(times, samples)
		}
	}
	return times
}

// Lead is how many times as long as the reference of a [Ranking] an arm takes.
type Lead struct {
	Ratio float64 `json:"ratio"`
	// Interval holds with those of all other arms together in 95 %.
	Interval stats.Interval `json:"interval"`
}

// Ranking is what paired rounds say about arms of which the fastest is looked for.
type Ranking struct {
	// Fastest is the arm that is the reference.
	Fastest int
	// Leads are those over each arm; that over the reference itself is 1.
	Leads []Lead
}

// Rank compares arms with the fastest of those that may be the reference, all of them where nobody is named. One
// statistic finds the fastest and states the ratios, so that no other arm has a ratio below 1. The reference was chosen
// on the rounds that it is compared on; so the intervals are those that hold for all pairs of which one could have been
// the reference (Bonferroni). Times are by arm and round, of the same rounds.
func Rank(times [][][]float64, references ...int) Ranking {
	arms := len(times)
	if len(references) == 0 {
		for arm := range arms {
			references = append(references, arm)
		}
	}
	contest := stats.NewContest(times)
	r := Ranking{Fastest: references[0], Leads: make([]Lead, arms)}
	for _, arm := range references {
		if contest.Levels[arm] < contest.Levels[r.Fastest] {
			r.Fastest = arm
		}
	}
	level := familyLevel(arms, len(references))
	for arm := range times {
		lead := Lead{math.Exp(contest.Levels[arm] - contest.Levels[r.Fastest]), stats.Interval{Low: 1, High: 1}}
		if arm != r.Fastest {
			lead.Interval = stats.SpeedupInterval(times[arm], times[r.Fastest], level)
			lead.Interval.Low = min(lead.Interval.Low, lead.Ratio)
			lead.Interval.High = max(lead.Interval.High, lead.Ratio)
		}
		r.Leads[arm] = lead
	}
	return r
}

// familyLevel is the level of each interval of a ranking.
func familyLevel(arms, references int) float64 {
	pairs := references*(references-1)/2 + references*(arms-references)
	return 1 - 0.05/float64(max(1, pairs))
}

// RoundsToRank is how many rounds the intervals of a ranking take.
func RoundsToRank(arms int) int { return stats.MinimumSamples(familyLevel(arms, arms)) }
