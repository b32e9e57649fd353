package gate

import (
	"math"
	"slices"

	"pawl/internal/collect"
	"pawl/internal/stats"
)

// Evidence is what the samples of two arms say about each other.
type Evidence struct {
	// Change is (baseline-candidate)/baseline: positive means faster.
	Change float64 `json:"change"`
	// Interval is the 95 % interval of the change. In rounds it holds whenever the comparison
	// ended: it is a repeated confidence interval, each analysis with its share of the 5 %.
	Interval stats.Interval `json:"interval"`
	// P is the p-value of the hypothesis that there is no difference.
	P float64 `json:"p"`
	// Delta is Cliff's delta: positive means that the candidate is faster.
	Delta float64 `json:"delta"`
	// Rounds is the number of paired rounds, 0 where the sides were not measured
	// together.
	Rounds int `json:"rounds,omitempty"`
	// Statistic says what stands for a process.
	Statistic Statistic `json:"statistic"`
	// Level is the time of a round in milliseconds, by the same statistic: the middle
	// over the rounds of the geometric mean of both sides. 0 where the sides were not
	// measured together.
	Level float64 `json:"level,omitempty"`
	// Spread is the standard deviation of one round's log ratio.
	Spread    float64 `json:"spread"`
	Baseline  Side    `json:"baseline"`
	Candidate Side    `json:"candidate"`
}

// Statistic is what stands for a process in a comparison.
type Statistic string

const (
	// Median of all samples.
	Median Statistic = "median"
	// FasterHalf is the median of the faster half, which is the lower quartile.
	FasterHalf Statistic = "lower quartile"
)

// disturbed is the variation inside the baseline's own processes above which their
// slower samples are the neighbors' doing.
const disturbed = 0.05

// statisticFor chooses the statistic by what the baseline and the control, which
// are the same program, say about the machine. The candidate has no say, so that
// one whose times scatter is not excused for it.
func statisticFor(variations map[Arm][]float64) Statistic {
	if stats.Median(slices.Concat(variations[Baseline], variations[Control])) > disturbed {
		return FasterHalf
	}
	return Median
}

// of returns what of each process is compared, in no order.
func (s Statistic) of(processes [][]float64) [][]float64 {
	if s == Median {
		return processes
	}
	return collect.Each(processes, func(samples []float64) []float64 {
		return slices.Sorted(slices.Values(samples))[:(len(samples)+1)/2]
	})
}

// Side describes one arm on its own. Times are milliseconds.
type Side struct {
	Median   float64        `json:"median"`
	Interval stats.Interval `json:"interval"`
	// Variation is the robust coefficient of variation inside processes.
	Variation float64 `json:"variation"`
	Processes int     `json:"processes"`
	Samples   int     `json:"samples"`
}

// weighing is what an analysis compares arms with.
type weighing struct {
	samples   Samples
	orders    [][]Arm
	statistic Statistic
	rounds    []logTimes
	// level is that of the intervals, tick the resolution of the clock, a share of the time.
	level, tick float64
	sides       map[Arm]Side
}

// compare compares an arm with another one that was measured in the same rounds.
func (w weighing) compare(before, after Arm) Evidence {
	baseline, candidate := w.statistic.of(w.samples[before]), w.statistic.of(w.samples[after])
	ratios := make([]float64, len(w.rounds))
	levels := make([]float64, len(w.rounds))
	for i, times := range w.rounds {
		ratios[i] = *times.of(before) - *times.of(after)
		// The geometric mean: what a round does to both is not a difference between them.
		levels[i] = math.Exp((*times.of(before) + *times.of(after)) / 2)
	}
	level, levelled := withoutRounds(baseline, candidate, levels)
	e := Evidence{
		Change:   changeOf(stats.Speedup(baseline, candidate)),
		Interval: changeInterval(ratios, w.level, w.tick),
		Delta:    stats.CliffsDelta(level, levelled),
		Rounds:   len(ratios), Statistic: w.statistic,
		Level: stats.Median(levels), Spread: spread(ratios),
		Baseline: w.sides[before], Candidate: w.sides[after],
	}
	if after == Candidate {
		e.P = chance(before, w.rounds, w.orders)
	} else {
		// The control is a guard: it may fire once too often, and the reference set of its orders,
		// eight for a block, is too small to fire at the first analysis.
		e.P = stats.SignFlip(ratios)
	}
	return e
}

// changeInterval is the interval of the change at a level, from the log ratios of the rounds. A
// clock that counts in ticks may be wrong by one, so that it is wider by that.
func changeInterval(ratios []float64, level, tick float64) stats.Interval {
	interval := stats.MedianInterval(collect.Each(ratios, math.Exp), level)
	if !interval.Bounded() || math.IsInf(tick, 1) {
		return stats.Unbounded()
	}
	return stats.Interval{Low: changeOf(interval.Low / (1 + tick)), High: changeOf(interval.High * (1 + tick))}
}

// tickOf is the resolution of the clock: the smallest difference between two samples, as a
// share of their time. Real noise makes it nothing. Where all samples are equal it is
// infinite, because nothing is known about it.
func tickOf(s Samples) float64 {
	var all []float64
	for _, processes := range s {
		all = append(all, slices.Concat(processes...)...)
	}
	slices.Sort(all)
	tick := math.Inf(1)
	for i := 1; i < len(all); i++ {
		if gap := all[i] - all[i-1]; gap > 0 {
			tick = min(tick, gap)
		}
	}
	return tick / stats.Median(all)
}

// changeOf turns a speedup (baseline/candidate) into a change.
func changeOf(speedup float64) float64 { return 1 - 1/speedup }

// Speedup is how many times as fast as the baseline the candidate is, with its 95 %
// interval: the change in other words.
func (e Evidence) Speedup() (float64, stats.Interval) {
	interval := stats.Unbounded()
	if e.Interval.Bounded() && e.Interval.High < 1 {
		interval = stats.Interval{Low: speedupOf(e.Interval.Low), High: speedupOf(e.Interval.High)}
	}
	return speedupOf(e.Change), interval
}

// speedupOf turns a change into a speedup (baseline/candidate).
func speedupOf(change float64) float64 { return 1 / (1 - change) }

// Times are what the two sides take, in milliseconds, by the statistic that the
// change is of: they differ by exactly the change.
func (e Evidence) Times() (baseline, candidate float64) {
	if e.Level == 0 {
		return e.Baseline.Median, e.Candidate.Median
	}
	half := math.Sqrt(1 - e.Change)
	return e.Level / half, e.Level * half
}

func perProcess(processes [][]float64) []float64 { return collect.Each(processes, stats.Median) }

// withoutRounds returns all samples of both sides, each over the level of its round.
func withoutRounds(baseline, candidate [][]float64, levels []float64) (base, other []float64) {
	for round, level := range levels {
		for _, sample := range baseline[round] {
			base = append(base, sample/level)
		}
		for _, sample := range candidate[round] {
			other = append(other, sample/level)
		}
	}
	return base, other
}

// spread is a standard deviation from the quartiles, so that an outlying round does
// not count; where half of the values are equal it falls back to the range, which
// for a normal sample of this size is at least two deviations.
func spread(values []float64) float64 {
	const quartiles = 1.349 // distance of the quartiles, in standard deviations
	if s := (stats.Quantile(values, 0.75) - stats.Quantile(values, 0.25)) / quartiles; s > 0 {
		return s
	}
	return (slices.Max(values) - slices.Min(values)) / 2
}

// Describe summarises the processes of one arm. The process is the unit: the
// interval is over process medians where there are enough of them, and over
// blocks of the samples in order otherwise.
func Describe(processes [][]float64) Side {
	return describe(processes, collect.Each(processes, stats.RobustCV))
}

func describe(processes [][]float64, variations []float64) Side {
	all, medians := slices.Concat(processes...), perProcess(processes)
	side := Side{
		Median: stats.Median(medians), Variation: stats.Median(variations),
		Processes: len(processes), Samples: len(all),
	}
	if len(medians) >= stats.FewestForInterval {
		side.Interval = stats.MedianInterval(medians, 0.95)
	} else {
		side.Interval = stats.Bootstrap(0).Block(all)
	}
	return side
}

// medianFactor is how much wider the error of a median is than that of a mean of
// normal values, the square root of pi/2.
const medianFactor = 1.2533
