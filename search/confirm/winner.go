package confirm

import (
	"slices"

	"pawl/internal/stats"
	"pawl/space"
)

// Contender is a point's samples in a confirmation, one slice per round.
type Contender struct {
	Point  space.Point
	Rounds [][]float64
}

// Milliseconds returns the median over rounds of the rounds' medians: one bad
// process does not move it.
func (c Contender) Milliseconds() float64 { return stats.Median(c.Medians()) }

// Medians returns the median of each round.
func (c Contender) Medians() []float64 {
	var medians []float64
	for _, samples := range c.Rounds {
		medians = append(medians, stats.Median(samples))
	}
	return medians
}

// Contenders groups the rounds of a phase's latest run by point, in the order of
// their first measurement, and keeps only the rounds that every point completed,
// so that rounds can be paired. A point that failed in any round is out.
func Contenders(rounds []Round, phase Phase) []Contender {
	rounds = Latest(rounds)
	byPoint := map[space.Point]map[int][]float64{}
	var order []space.Point
	failed := map[space.Point]bool{}
	for _, r := range rounds {
		if r.Phase != phase {
			continue
		}
		if r.Outcome.Failure != nil {
			failed[r.Point] = true
			continue
		}
		if byPoint[r.Point] == nil {
			byPoint[r.Point] = map[int][]float64{}
			order = append(order, r.Point)
		}
		byPoint[r.Point][r.Number] = r.Outcome.Samples
	}
	order = slices.DeleteFunc(order, func(p space.Point) bool { return failed[p] })
	var complete []int
	for number := range 1 + highest(rounds, phase) {
		if !slices.ContainsFunc(order, func(p space.Point) bool { return byPoint[p][number] == nil }) {
			complete = append(complete, number)
		}
	}
	var contenders []Contender
	for _, point := range order {
		c := Contender{Point: point}
		for _, number := range complete {
			c.Rounds = append(c.Rounds, byPoint[point][number])
		}
		contenders = append(contenders, c)
	}
	if len(complete) == 0 {
		return nil
	}
	return contenders
}

// Winner returns the contender that is most probably the best, by a
// confirmation with enough rounds to claim anything. That is not always the one
// with the lowest median: rounds are paired, and noise that hits a whole round
// counts for nobody.
func Winner(rounds []Round) (space.Point, bool) {
	contenders := Contenders(rounds, Confirmation)
	if len(contenders) == 0 || len(contenders[0].Rounds) < FewestRounds {
		return space.Point{}, false
	}
	return WinnerOf(contenders, ProbabilityBest(contenders))
}

// WinnerOf is Winner for those who know the probabilities, which take their time.
func WinnerOf(contenders []Contender, probabilities []float64) (space.Point, bool) {
	if len(contenders) == 0 || len(contenders[0].Rounds) < FewestRounds {
		return space.Point{}, false
	}
	best := 0
	for i, c := range contenders {
		ahead := probabilities[i] > probabilities[best]
		tied := probabilities[i] == probabilities[best]
		if ahead || tied && c.Milliseconds() < contenders[best].Milliseconds() {
			best = i
		}
	}
	return contenders[best].Point, true
}

// ProbabilityBest returns, for each contender, the probability that it is the
// fastest of them.
func ProbabilityBest(contenders []Contender) []float64 {
	var samples [][][]float64
	for _, c := range contenders {
		samples = append(samples, c.Rounds)
	}
	return stats.Bootstrap{}.ProbabilityBest(samples)
}
