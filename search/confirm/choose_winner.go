package confirm

import (
	"math"
	"slices"

	"pawl/internal/collect"
	"pawl/internal/stats"
	"pawl/objective"
	"pawl/search/trial"
	"pawl/space"
)

// Contender is a point's samples in a confirmation, one slice per round.
type Contender struct {
	Point  space.Point
	Rounds [][]float64
	// Short says that it was measured no further because the time was short.
	Short bool
}

// Milliseconds returns the median over rounds of the rounds' medians: one bad
// process does not move it.
func (c Contender) Milliseconds() float64 { return stats.Median(c.Medians()) }

// Medians returns the median of each round.
func (c Contender) Medians() []float64 {
	return collect.Each(c.Rounds, stats.Median)
}

// Contenders groups the rounds of a phase's latest run by point, in the order of
// their first measurement, and keeps only the rounds that every point completed,
// so that rounds can be paired. A point that failed in any round is out, and so is one that was
// left behind; a round in which the device was throttled is out for all.
func Contenders(rounds []trial.Round, phase trial.Phase) []Contender {
	staying, _ := split(rounds, phase)
	return staying
}

// LeftBehind are the contenders of a phase's latest run that were measured no further: they were
// clearly behind, or the time was short. Their rounds are the first of the others'.
func LeftBehind(rounds []trial.Round, phase trial.Phase) []Contender {
	_, left := split(rounds, phase)
	return left
}

func split(rounds []trial.Round, phase trial.Phase) (staying, left []Contender) {
	rounds = slices.DeleteFunc(trial.Latest(rounds), func(r trial.Round) bool { return r.Phase != phase })
	byPoint := map[space.Point]map[int][]float64{}
	var order []space.Point
	failed, throttled := map[space.Point]bool{}, map[int]bool{}
	behind := map[space.Point]*objective.Failure{}
	for _, r := range rounds {
		switch f := r.Outcome.Failure; {
		case f == nil && byPoint[r.Point] == nil:
			byPoint[r.Point] = map[int][]float64{r.Number: r.Outcome.Samples}
			order = append(order, r.Point)
		case f == nil:
			byPoint[r.Point][r.Number] = r.Outcome.Samples
		case f.Reason == objective.Throttled:
			throttled[r.Number] = true
		case LeftRound(f):
			behind[r.Point] = f
		default:
			failed[r.Point] = true
		}
	}
	order = slices.DeleteFunc(order, func(p space.Point) bool { return failed[p] })
	contenders := make([]Contender, len(order))
	for number := range 1 + highest(rounds, phase) {
		if throttled[number] || slices.ContainsFunc(order, func(p space.Point) bool {
			return byPoint[p][number] == nil && behind[p] == nil
		}) {
			continue
		}
		for i, point := range order {
			if samples := byPoint[point][number]; samples != nil {
				contenders[i].Rounds = append(contenders[i].Rounds, samples)
			}
		}
	}
	for i, point := range order {
		contenders[i].Point = point
		switch {
		case len(contenders[i].Rounds) == 0:
		case behind[point] != nil:
			contenders[i].Short = behind[point].Reason == Short
			left = append(left, contenders[i])
		default:
			staying = append(staying, contenders[i])
		}
	}
	return staying, left
}

// Winner returns the contender that is most probably the best, by a
// confirmation with enough rounds to claim anything. That is not always the one
// with the lowest median: rounds are paired, and noise that hits a whole round
// counts for nobody.
func Winner(rounds []trial.Round) (space.Point, bool) {
	contenders := Contenders(rounds, trial.Confirmation)
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
func ProbabilityBest(contenders []Contender) []float64 { return contest(contenders).ProbabilityBest() }

func contest(contenders []Contender) stats.Contest {
	return stats.NewContest(collect.Each(contenders, func(c Contender) [][]float64 { return c.Rounds }))
}

// Gain is what a contender gains over another one, usually the winner over the default.
type Gain struct {
	// Speedup is corrected for the choice: the best of several that were compared on the same
	// rounds seems faster than it is.
	Speedup float64
	// Interval is its 95 % interval, whichever of the finalists was chosen (Bonferroni);
	// unbounded with fewer rounds than Needed.
	Interval stats.Interval
	// Rounds were measured, and an interval takes at least Needed.
	Rounds, Needed int
}

// levelOf is that of each finalist's interval, so that all of them hold in 95 %.
func levelOf(finalists int) float64 { return 1 - 0.05/float64(max(finalists, 1)) }

// GainOf compares a contender with the one that all are compared with. Left is how many finalists
// were left behind: they could have been chosen too.
func GainOf(contenders []Contender, base, chosen, left int) Gain {
	var finalists []int
	for i := range contenders {
		if i != base {
			finalists = append(finalists, i)
		}
	}
	level := levelOf(len(finalists) + left)
	before, after := contenders[base].Rounds, contenders[chosen].Rounds
	g := Gain{
		Speedup:  stats.Speedup(before, after) * math.Exp(-contest(contenders).Overstated(chosen, finalists)),
		Interval: stats.SpeedupInterval(before, after, level),
		Rounds:   len(after), Needed: stats.MinimumSamples(level),
	}
	if g.Interval.Bounded() {
		g.Speedup = max(g.Interval.Low, min(g.Interval.High, g.Speedup))
	}
	return g
}

// FewestRounds is the number of rounds below which nothing is claimed.
const FewestRounds = 3
