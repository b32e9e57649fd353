package gate

import "math"

// Analysis is a planned analysis of the evidence, interim or final.
type Analysis struct {
	Rounds int
	// Level is the p-value that proves a difference at this analysis.
	Level float64
}

// intervals is the level of the intervals at an analysis: all analyses together share 5 %, as
// they share the alarm rate, so that the interval at which a comparison happens to end
// covers the truth in 95 % of the comparisons (repeated confidence intervals, Jennison and
// Turnbull 1989).
func (a Analysis) intervals(p Policy) float64 { return 1 - 0.05*a.Level/p.Alarm }

// analyses shares the alarm rate between them (alpha spending): half for the first,
// because few rounds need a level that they can reach, and the rest in equal parts. By
// the union bound the sum holds whatever the analyses have in common.
func (p Policy) analyses() []Analysis {
	analyses := make([]Analysis, len(p.Rounds))
	for i, rounds := range p.Rounds {
		analyses[i] = Analysis{Rounds: rounds, Level: p.Alarm / 2 / float64(max(1, len(p.Rounds)-1))}
	}
	analyses[0].Level = p.Alarm / 2
	if len(analyses) == 1 {
		analyses[0].Level = p.Alarm
	}
	return analyses
}

// blockRounds is how many rounds have all orders of baseline, candidate and control. The orders of a comparison are
// part of its test: they come in blocks of all six, before one repeats.
const blockRounds = 6

// smallestChance is the smallest p-value that so many rounds can reach for sure: where the
// candidate is always the slowest, the draws that leave it in its places are as extreme. In a
// block, the two rounds that have it in one place may exchange their orders: 8 of 720 draws.
// Both directions and both limits of the test cost a factor of two each.
func smallestChance(rounds int) float64 {
	// By the rounds of a block that is not complete, with the candidate in as many places as
	// possible, which leaves the most draws.
	started := [blockRounds]float64{1, 2. / 6, 4. / 30, 8. / 120, 8. / 360, 8. / 720}
	return min(1, 4*math.Pow(8./720, float64(rounds/blockRounds))*started[rounds%blockRounds])
}

// fewestRounds is the smallest number of rounds whose p-value can reach a level.
func fewestRounds(level float64) int {
	rounds := 1
	for smallestChance(rounds) > level {
		rounds++
	}
	return rounds
}

// canProve reports whether so many rounds can prove anything at a level.
func (a Analysis) canProve() bool { return smallestChance(a.Rounds) <= a.Level }
