package gate

import (
	"fmt"
	"math"
	"slices"

	"pawl/internal/stats"
)

// CompareApart judges two sides that were not measured together: stored samples,
// or two files. Nothing cancels here. Another hour, another clock or another
// neighbour can make identical code differ, and no test on the samples can see
// that; so
//
//   - a step or a drift inside either side, of more than a third of the
//     difference between them, makes the verdict inconclusive;
//   - samples of few processes are taken in blocks as long as their
//     autocorrelation asks for, and the test counts only as many as are
//     independent;
//   - a difference proves something only beyond twice the policy's limits with
//     at least six processes on each side, and beyond three times with fewer,
//     because then nothing is known about how processes differ.
//
// The outer slices are processes, in the order measured.
func CompareApart(b stats.Bootstrap, baseline, candidate [][]float64, p Policy, method Method) Comparison {
	e, independent := weighApart(b, baseline, candidate)
	c := Comparison{Method: method, Evidence: &e, Candidate: candidate, Notes: p.notes(e)}
	c.Decision = p.judgeApart(e, independent, baseline, candidate)
	return c
}

// WithStoredErosion holds a finished comparison against the stored samples of the
// oldest accepted release, where that could not be rebuilt and measured.
func (c Comparison) WithStoredErosion(b stats.Bootstrap, oldest [][]float64, p Policy) Comparison {
	if c.Verdict.Fails() || len(c.Candidate) == 0 {
		return c
	}
	limits := p
	limits.Regression = p.Erosion
	apart := CompareApart(b, oldest, c.Candidate, limits, Stored)
	c.Oldest = apart.Evidence
	if apart.Verdict == Regression {
		c.Decision = Decision{Verdict: Regression, Reason: "erosion against the stored samples of the oldest accepted release: " + apart.Reason}
	}
	return c
}

// enoughProcesses is how many processes a side needs for an interval over them.
var enoughProcesses = stats.MinimumSamples(0.95)

// weighApart compares two sides that share no rounds. It returns also the values
// that may be taken for independent: process medians, or the medians of blocks.
func weighApart(b stats.Bootstrap, baseline, candidate [][]float64) (Evidence, [2][]float64) {
	sides := [2][]float64{independentOf(baseline), independentOf(candidate)}
	e := Evidence{
		Statistic: Median,
		Delta:     stats.CliffsDelta(slices.Concat(baseline...), slices.Concat(candidate...)),
		Baseline:  Describe(b, baseline), Candidate: Describe(b, candidate),
	}
	e.Change = stats.Change(e.Baseline.Median, e.Candidate.Median)
	// From the far ends of both intervals: it excludes 0 exactly where the two
	// are disjoint.
	e.Interval = stats.Interval{
		Low:  stats.Change(e.Baseline.Interval.Low, e.Candidate.Interval.High),
		High: stats.Change(e.Baseline.Interval.High, e.Candidate.Interval.Low),
	}
	_, e.P = stats.MannWhitney(sides[0], sides[1])
	e.Spread = math.Hypot(relativeSpread(sides[0]), relativeSpread(sides[1]))
	return e, sides
}

// independentOf returns values that may be taken for independent.
func independentOf(processes [][]float64) []float64 {
	var medians []float64
	if len(processes) >= enoughProcesses {
		for _, samples := range processes {
			medians = append(medians, stats.Median(samples))
		}
		return medians
	}
	all := slices.Concat(processes...)
	// The sign of the block length's choice is the median's own dependence; the
	// integrated time sees slow wandering that few samples hide from it.
	length := max(stats.BlockLength(all), int(math.Ceil(stats.IntegratedTime(all))))
	for block := range slices.Chunk(all, min(length, len(all))) {
		medians = append(medians, stats.Median(block))
	}
	return medians
}

func relativeSpread(values []float64) float64 { return spread(values) / stats.Median(values) }

// apartLevel is the p-value that proves a difference between two sides measured
// apart.
const apartLevel = 0.004

func (p Policy) judgeApart(e Evidence, independent [2][]float64, baseline, candidate [][]float64) Decision {
	for i, processes := range [2][][]float64{baseline, candidate} {
		if size, how := p.unsteady(processes); size > math.Abs(math.Log1p(-e.Change))/3 {
			return Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("drift: the %s %s", []Arm{Baseline, Candidate}[i], how)}
		}
	}
	factor, why := 2.0, "two sides that were not measured together"
	if len(baseline) < enoughProcesses || len(candidate) < enoughProcesses {
		factor, why = 3, fmt.Sprintf("fewer than %d processes a side, not measured together", enoughProcesses)
	}
	slow, fast := factor*p.Regression, factor*p.Improvement
	proven := e.P <= apartLevel && !e.Interval.Contains(0)
	within := e.Interval.Low > -slow && e.Interval.High < fast
	switch {
	case proven && (e.Change < -slow || e.Change > fast) && (restless(baseline, e.Change) || restless(candidate, e.Change)):
		return Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("drift: %s, but a side differs from itself by more than half of that", faster(e.Change))}
	case proven && e.Change < -slow:
		return Decision{Verdict: Regression, Reason: fmt.Sprintf("slower by %s, more than %s, the limit for %s", percent(-e.Change), percent(slow), why)}
	case proven && e.Change > fast && math.Abs(e.Delta) >= p.Effect:
		return Decision{Verdict: Improvement, Reason: fmt.Sprintf("faster by %s, more than %s, the limit for %s", percent(e.Change), percent(fast), why)}
	case proven && (e.Change < -p.Regression || e.Change > p.Improvement):
		return Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("%s, which proves nothing between %s; pawl gate measures them together", faster(e.Change), why)}
	case proven:
		return Decision{Verdict: Maintained, Reason: fmt.Sprintf("%s, which is within the limits", faster(e.Change))}
	case within:
		return Decision{Verdict: NoDifference, Reason: "the intervals overlap"}
	}
	needed := math.Ceil(float64(min(len(independent[0]), len(independent[1]))) * math.Pow(max(-e.Interval.Low/slow, e.Interval.High/fast), 2))
	return Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("too noisy: the interval reaches from %+.1f %% to %+.1f %%; about %.0f processes a side would tell", 100*e.Interval.Low, 100*e.Interval.High, needed)}
}

// unsteady says how far one side stepped or drifted while it was measured, as a
// log ratio, and how; 0 for a steady one.
func (p Policy) unsteady(processes [][]float64) (size float64, how string) {
	series := slices.Concat(processes...)
	if steps := stats.ChangePoints(series, stats.ChangePointOptions{MinimumStep: p.Regression / 2}); len(steps) > 0 {
		var levels []float64
		first := 0
		for _, next := range append(steps, len(series)) {
			levels = append(levels, stats.Median(series[first:next]))
			first = next
		}
		size = math.Log(slices.Max(levels) / slices.Min(levels))
		return size, fmt.Sprintf("stepped by %s, first after %d of %d samples", percent(math.Expm1(size)), steps[0], len(series))
	}
	drift := stats.Drift(series)
	third := len(series) / 3
	if math.Abs(drift) <= p.Regression || third == 0 {
		return 0, ""
	}
	if _, chance := stats.MannWhitney(thinned(series[:third]), thinned(series[len(series)-third:])); chance > 0.01 {
		return 0, ""
	}
	return math.Abs(math.Log1p(-drift)), fmt.Sprintf("drifted by %s from its first third to its last", percent(math.Abs(drift)))
}

// restless reports whether a side differs from itself, between the quarters of its
// run, by more than half of what it is said to differ from the other. This catches
// the step that noise hides from every test.
func restless(processes [][]float64, change float64) bool {
	var levels []float64
	for _, part := range quarters(processes) {
		levels = append(levels, stats.Median(part))
	}
	return math.Log(slices.Max(levels)/slices.Min(levels)) > math.Abs(math.Log1p(-change))/2
}

// quarters cuts the samples, in order, into four parts or as many as there are.
func quarters(processes [][]float64) [][]float64 {
	all := slices.Concat(processes...)
	parts := min(4, len(all))
	var cut [][]float64
	for i := range parts {
		cut = append(cut, all[i*len(all)/parts:(i+1)*len(all)/parts])
	}
	return cut
}

// thinned returns as many of the samples, evenly spaced, as are independent.
func thinned(samples []float64) []float64 {
	step := max(1, int(math.Ceil(stats.IntegratedTime(samples))))
	var kept []float64
	for i := 0; i < len(samples); i += step {
		kept = append(kept, samples[i])
	}
	return kept
}
