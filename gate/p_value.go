package gate

import (
	"math"
	"slices"

	"pawl/internal/stats"
)

// logTimes are the logarithms of what stands for the processes of a round.
type logTimes struct{ baseline, candidate, control, best float64 }

// of is the place of an arm's time.
func (t *logTimes) of(arm Arm) *float64 {
	switch arm {
	case Baseline:
		return &t.baseline
	case Candidate:
		return &t.candidate
	case Control:
		return &t.control
	}
	return &t.best
}

// timesOf returns the rounds as the tests see them.
func timesOf(s Samples, statistic Statistic) []logTimes {
	rounds := make([]logTimes, s.rounds())
	for arm, processes := range s {
		for i, level := range perProcess(statistic.of(processes)) {
			*rounds[i].of(arm) = math.Log(level)
		}
	}
	return rounds
}

// chance is the p-value of the hypothesis that an arm is the same as the candidate, against
// all orders that the rounds could have had ([stats.PermutedBlocks]).
//
// Against the baseline, all three designed arms are the same under the hypothesis. Against the
// best accepted entry, it and the candidate are, and baseline and control are in any case.
func chance(against Arm, rounds []logTimes, orders [][]Arm) float64 {
	var assignments [][]stats.Assignment
	for i, times := range rounds {
		var of []stats.Assignment
		for _, relabeled := range relabelings(against, orders[i]) {
			var hypothetical logTimes
			for place, arm := range relabeled {
				*hypothetical.of(arm) = *times.of(orders[i][place])
			}
			of = append(of, stats.Assignment{
				Order:      orderNumber(relabeled),
				Difference: *hypothetical.of(against) - hypothetical.candidate,
			})
		}
		assignments = append(assignments, of)
	}
	return stats.PermutedBlocks(assignments, blockRounds, limits(against, rounds)...)
}

// relabelings are the orders in which the processes of a round could have been those of the arms,
// under the hypothesis; the first is the real one.
func relabelings(against Arm, order []Arm) [][]Arm {
	if against == Best {
		swapped := exchange(order, Best, Candidate)
		return [][]Arm{order, swapped, exchange(order, Baseline, Control), exchange(swapped, Baseline, Control)}
	}
	turned := exchange(exchange(order, Baseline, Candidate), Candidate, Control)
	again := exchange(exchange(turned, Baseline, Candidate), Candidate, Control)
	all := [][]Arm{order, turned, again}
	for _, one := range all[:3] {
		all = append(all, exchange(one, Baseline, Candidate))
	}
	return all
}

// exchange returns the order with the names of two arms exchanged.
func exchange(order []Arm, a, b Arm) []Arm {
	exchanged := slices.Clone(order)
	exchanged[slices.Index(order, a)], exchanged[slices.Index(order, b)] = b, a
	return exchanged
}

// orderNumber numbers the six orders of the designed arms.
func orderNumber(order []Arm) int {
	before := func(a, b Arm) int {
		if slices.Index(order, a) < slices.Index(order, b) {
			return 1
		}
		return 0
	}
	first := before(Baseline, Candidate) + before(Baseline, Control) // 2 where the baseline is first
	return 2*first + before(Candidate, Control)
}

// limits are where the test cuts differences: three times their median size, and three times
// the noise. The noise is the median over rounds of the smallest difference between two
// arms that are the same, or would be: of three processes on two levels, two are on one. It
// does not grow with the candidate's slowdown, so that a small slowdown is seen although
// some processes are much slower than others.
func limits(against Arm, rounds []logTimes) []float64 {
	var sizes, noise []float64
	for _, t := range rounds {
		between := math.Abs(*t.of(against) - t.candidate)
		same := math.Abs(t.baseline - t.control)
		sizes, noise = append(sizes, between), append(noise, same)
		if against == Baseline {
			third := math.Abs(t.candidate - t.control)
			sizes, noise[len(noise)-1] = append(sizes, same, third), min(same, between, third)
		}
	}
	return []float64{3 * stats.Median(noise), 3 * stats.Median(sizes)}
}
