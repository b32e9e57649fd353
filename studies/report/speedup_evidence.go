package report

import (
	"math"
	"slices"

	"pawl/internal/stats"
	"pawl/search/confirm"
)

// Evidence compares the winner with the default. The speedup and its interval allow for
// the choice among the finalists ([confirm.Gain]).
type Evidence struct {
	Speedup  float64        `json:"speedup"`
	Interval stats.Interval `json:"interval"`
	// Delta is Cliff's delta of the default's samples over the winner's:
	// positive means that the winner is faster.
	Delta     float64 `json:"cliffs_delta"`
	Magnitude string  `json:"magnitude"`
	// Best is the probability that the winner is the best of the finalists.
	Best   float64 `json:"probability_best"`
	Rounds int     `json:"rounds"`
	// Needed is how many rounds the interval takes with so many finalists.
	Needed int `json:"rounds_needed"`
	// Least is the smallest speedup of any round: what there is to go by when the
	// rounds are too few for an interval.
	Least float64 `json:"least"`
}

// compare returns the speedup of a contender over the default, round by round, and
// the interval of the same statistic; too few rounds have none.
func compare(base, c confirm.Contender) (float64, stats.Interval) {
	return stats.Speedup(base.Rounds, c.Rounds), stats.SpeedupInterval(base.Rounds, c.Rounds, 0.95)
}

func evidence(base, winner confirm.Contender, best float64, gain confirm.Gain) *Evidence {
	e := &Evidence{
		Speedup: gain.Speedup, Interval: gain.Interval, Best: best, Rounds: gain.Rounds, Needed: gain.Needed,
	}
	e.Least = math.Inf(1)
	for i := range base.Rounds {
		e.Least = min(e.Least, stats.Speedup(base.Rounds[i:i+1], winner.Rounds[i:i+1]))
	}
	e.Delta = stats.CliffsDelta(slices.Concat(base.Rounds...), slices.Concat(winner.Rounds...))
	e.Magnitude = stats.Magnitude(e.Delta)
	return e
}
