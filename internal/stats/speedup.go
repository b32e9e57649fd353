package stats

import (
	"math"
	"slices"
)

// Speedup returns how many times faster the candidate is than the baseline: above
// 1 the candidate is faster. The outer slices are processes, the inner ones the
// samples of each.
//
// With equal numbers of processes, index i of both is one round, measured together
// and compared with itself: the speedup is the exponential of the median over the
// rounds of log(median of baseline / median of candidate), so that what a round
// does to both, a warm chip or a lower clock, cancels. With different numbers it is
// the ratio of the medians over all samples.
func Speedup(baseline, candidate [][]float64) float64 {
	requireProcesses("Speedup", baseline)
	requireProcesses("Speedup", candidate)
	if len(baseline) != len(candidate) {
		return Median(slices.Concat(baseline...)) / Median(slices.Concat(candidate...))
	}
	return logMedian(roundRatios(baseline, candidate))
}

// SpeedupInterval returns the interval of [Speedup] over paired rounds: the
// [MedianInterval] of the ratios of the rounds. It is unbounded where the rounds are too few
// for the level.
func SpeedupInterval(baseline, candidate [][]float64, level float64) Interval {
	requireProcesses("SpeedupInterval", baseline)
	requireProcesses("SpeedupInterval", candidate)
	if len(baseline) != len(candidate) {
		panic("stats: SpeedupInterval: rounds that are not paired")
	}
	return MedianInterval(roundRatios(baseline, candidate), level)
}

func roundRatios(baseline, candidate [][]float64) []float64 {
	ratios := make([]float64, len(baseline))
	for round := range baseline {
		ratios[round] = Median(baseline[round]) / Median(candidate[round])
	}
	return ratios
}

// MeanSpeedupInterval returns the interval of the geometric mean of several speedups, each
// of paired rounds of its own that are drawn independently of the others', by a hierarchical
// bootstrap: rounds are drawn with replacement, jointly for both sides, then the samples
// inside each. Because whole rounds are drawn, autocorrelation inside a process does not
// narrow it. Drawing at both levels counts the noise inside processes twice (Davison and
// Hinkley 1997, section 3.8), which makes up for what few rounds hide. Baselines and
// candidates have the same length.
func (b Bootstrap) MeanSpeedupInterval(baselines, candidates [][][]float64) Interval {
	if len(baselines) != len(candidates) || len(baselines) == 0 {
		panic("stats: Bootstrap.MeanSpeedupInterval: not as many baselines as candidates, or none")
	}
	var all []*pairedRounds
	for i := range baselines {
		requireProcesses("Bootstrap.MeanSpeedupInterval", baselines[i])
		requireProcesses("Bootstrap.MeanSpeedupInterval", candidates[i])
		if len(baselines[i]) != len(candidates[i]) {
			panic("stats: Bootstrap.MeanSpeedupInterval: rounds that are not paired")
		}
		all = append(all, newPairedRounds(baselines[i], candidates[i]))
	}
	random := newSource()
	return b.percentile(func() float64 {
		sum := 0.0
		for _, rounds := range all {
			sum += math.Log(rounds.draw(random))
		}
		return math.Exp(sum / float64(len(all)))
	})
}

// pairedRounds draws bootstrap speedups of rounds in which both sides were measured.
type pairedRounds struct {
	base, other []*rankCounts
	ratios      []float64
}

func newPairedRounds(baseline, candidate [][]float64) *pairedRounds {
	p := &pairedRounds{ratios: make([]float64, len(baseline))}
	for i := range baseline {
		p.base = append(p.base, newRankCounts(baseline[i]))
		p.other = append(p.other, newRankCounts(candidate[i]))
	}
	return p
}

func (p *pairedRounds) draw(random *source) float64 {
	for i := range p.ratios {
		round := random.index(len(p.ratios))
		p.ratios[i] = p.base[round].resample(random) / p.other[round].resample(random)
	}
	return logMedian(p.ratios)
}

// logMedian returns the exponential of the median logarithm of positive ratios,
// which it sorts. The logarithm keeps the order, so only the middle two matter and
// their mean logarithm is that of their geometric mean: no logarithm is taken.
func logMedian(ratios []float64) float64 {
	slices.Sort(ratios)
	n := len(ratios)
	lower, upper := ratios[(n-1)/2], ratios[n/2]
	if lower == upper {
		return lower
	}
	return math.Sqrt(lower) * math.Sqrt(upper)
}

// Change returns (baseline-current)/baseline, the share of the baseline time that
// was saved: 0.03 is 3 % faster, -0.03 is 3 % slower. It panics unless both
// timings are positive and finite.
func Change(baseline, current float64) float64 {
	requirePositive("Change", []float64{baseline, current})
	return (baseline - current) / baseline
}
