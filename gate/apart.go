package gate

import (
	"fmt"
	"math"
	"slices"

	"pawl/internal/page"
	"pawl/internal/stats"
)

// CompareApart judges two sides that were not measured together: stored samples,
// or two files. Nothing cancels here. Another hour, another clock or another
// neighbour can make identical code differ, and no test on the samples can see
// that; so
//
//   - the process is the unit: its level, the median of its samples, is one
//     observation, and levels that differ from process to process are noise, not
//     drift;
//   - with at least six processes on each side the test of the levels must prove the
//     difference, and it must exceed twice the policy's limits; where processes of
//     the two sides overlap, there must also be ten a side, in no order that says
//     that the machine moved, and the fastest of each must agree;
//   - with fewer, nothing can be learned about how levels differ, so a difference
//     must exceed what levels were seen to do elsewhere ([explained]);
//   - drift inside processes, or from process to process in the order measured, of
//     more than a third of the difference makes the verdict inconclusive.
//
// The outer slices are processes, in the order measured.
func CompareApart(b stats.Bootstrap, baseline, candidate [][]float64, p Policy, method Method) Comparison {
	s := apart{policy: p, baseline: baseline, candidate: candidate, levels: [2][]float64{processLevels(baseline), processLevels(candidate)}}
	s.evidence = s.weigh(b)
	c := Comparison{Method: method, Evidence: &s.evidence, Candidate: candidate, Notes: append(p.notes(s.evidence), s.notes()...)}
	if s.few() {
		c.Decision = s.judgeFew(b)
	} else {
		c.Decision = s.judge()
	}
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

// apartLevel is the p-value that proves a difference between two sides measured
// apart.
const apartLevel = 0.004

// apart is a comparison of two sides that share no rounds.
type apart struct {
	policy              Policy
	baseline, candidate [][]float64
	levels              [2][]float64 // of the processes of either side, in order
	evidence            Evidence
}

// few reports that a side has too few processes to show how they differ.
func (s *apart) few() bool { return min(len(s.baseline), len(s.candidate)) < enoughProcesses }

// processLevels returns the median of each process.
func processLevels(processes [][]float64) []float64 {
	levels := make([]float64, len(processes))
	for i, samples := range processes {
		levels[i] = stats.Median(samples)
	}
	return levels
}

// weigh compares the levels of the two sides.
func (s *apart) weigh(b stats.Bootstrap) Evidence {
	speedup, interval := stats.PairwiseSpeedup(s.levels[0], s.levels[1], 0.95)
	if s.few() {
		// Nothing but the assumption about levels says how far the truth may be.
		const normal95 = 1.96
		reach := math.Exp(normal95 * s.levelError())
		interval = stats.Interval{Low: speedup / reach, High: speedup * reach}
	}
	e := Evidence{
		Statistic: Median,
		Change:    changeOf(speedup),
		Interval:  stats.Interval{Low: changeOf(interval.Low), High: changeOf(interval.High)},
		Delta:     stats.CliffsDelta(slices.Concat(s.baseline...), slices.Concat(s.candidate...)),
		Spread:    math.Hypot(relativeSpread(s.levels[0]), relativeSpread(s.levels[1])),
		Baseline:  Describe(b, s.baseline), Candidate: Describe(b, s.candidate),
	}
	_, e.P = stats.MannWhitney(s.levels[0], s.levels[1])
	return e
}

func relativeSpread(values []float64) float64 { return spread(values) / stats.Median(values) }

// notes say what a reader would otherwise stumble over.
func (s *apart) notes() []string {
	var notes []string
	if s.few() {
		notes = append(notes, fmt.Sprintf("%s a side cannot show how processes differ: the interval assumes levels with a standard deviation of %s", processCount(s.levels), page.Percent(s.levelSpread())))
	}
	medians := stats.Change(s.evidence.Baseline.Median, s.evidence.Candidate.Median)
	if math.Abs(medians-s.evidence.Change) > s.policy.Regression {
		notes = append(notes, fmt.Sprintf("the change is the median over all pairs of a process from each side; the medians of the two sides alone are apart by %s", page.Percent(math.Abs(medians))))
	}
	return notes
}

// processCount writes how many processes the smaller side has.
func processCount(levels [2][]float64) string {
	if n := min(len(levels[0]), len(levels[1])); n > 1 {
		return fmt.Sprintf("%d processes", n)
	}
	return "1 process"
}

// judge decides where both sides have enough processes.
func (s *apart) judge() Decision {
	e, slow, fast := s.evidence, 2*s.policy.Regression, 2*s.policy.Improvement
	if d := s.insideDrift(); d != nil {
		return *d
	}
	const why = "two sides that were not measured together"
	proven := e.P <= apartLevel && !e.Interval.Contains(0)
	beyond := e.Change < -slow || e.Change > fast
	within := e.Interval.Low > -slow && e.Interval.High < fast
	if proven && beyond && !s.cleared(slow, fast) {
		if d := s.doubt(slow, fast); d != nil {
			return *d
		}
	}
	switch {
	case proven && e.Change < -slow:
		return Decision{Verdict: Regression, Reason: fmt.Sprintf("slower by %s, more than %s, the limit for %s", page.Percent(-e.Change), page.Percent(slow), why)}
	case proven && e.Change > fast && math.Abs(e.Delta) >= s.policy.Effect:
		return Decision{Verdict: Improvement, Reason: fmt.Sprintf("faster by %s, more than %s, the limit for %s", page.Percent(e.Change), page.Percent(fast), why)}
	case proven && (e.Change < -s.policy.Regression || e.Change > s.policy.Improvement):
		return Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("%s, which proves nothing between %s; pawl gate measures them together", faster(e.Change), why)}
	case proven:
		return Decision{Verdict: Maintained, Reason: fmt.Sprintf("%s, which is within the limits", faster(e.Change))}
	case within:
		return Decision{Verdict: NoDifference, Reason: fmt.Sprintf("the interval reaches from %+.1f %% to %+.1f %%: not proven, and within the limits for %s", 100*e.Interval.Low, 100*e.Interval.High, why)}
	}
	return Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("too noisy: the interval reaches from %+.1f %% to %+.1f %%; about %.0f processes a side would tell", 100*e.Interval.Low, 100*e.Interval.High, s.needed(slow, fast))}
}

// needed is how many processes a side would decide: either prove a change of the
// size that was seen, or show that it is within the limits.
func (s *apart) needed(slow, fast float64) float64 {
	const (
		normal95 = 1.96 // standard errors from the middle of the interval to its end
		told     = 4.2  // standard errors for p = 0.004 nine times of ten
	)
	e, n := s.evidence, float64(min(len(s.baseline), len(s.candidate)))
	half := (e.Interval.High - e.Interval.Low) / 2
	if e.Change < -slow || e.Change > fast {
		half *= told / normal95 / math.Abs(e.Change)
	} else {
		half /= min(slow, fast)
	}
	return math.Ceil(max(n+1, n*half*half))
}

// cleared reports that every process of the candidate is beyond every process of
// the baseline by the limit. Then no order of the processes explains the
// difference; of fewer than ten, only if most of the difference lies between them,
// because a step early in both runs leaves a process or two on the old level.
func (s *apart) cleared(slow, fast float64) bool {
	if n := min(len(s.baseline), len(s.candidate)); n < orderedProcesses && s.gap() < s.difference()/2 {
		return false
	}
	return s.gap() > math.Log1p(slow) && s.evidence.Change < 0 || s.gap() > -math.Log1p(-fast) && s.evidence.Change > 0
}

// gap is the log ratio of the two levels, one of each side, that are next to each
// other; negative where the sides overlap.
func (s *apart) gap() float64 {
	base, other := s.levels[0], s.levels[1]
	return math.Log(max(slices.Min(other)/slices.Max(base), slices.Min(base)/slices.Max(other)))
}

// doubt says why a proven difference is not told although some process of one side
// lies among those of the other.
func (s *apart) doubt(slow, fast float64) *Decision {
	if n := min(len(s.baseline), len(s.candidate)); n < orderedProcesses {
		return &Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("%s, but the processes of the two sides come too close to each other (%s is the limit, %s for a gain, and half of the difference), and %d processes a side do not show whether the machine moved meanwhile; %d would", faster(s.evidence.Change), page.Percent(slow), page.Percent(fast), n, orderedProcesses)}
	}
	// Interference only adds time, and may stay with a side for most of its run: what
	// is slower is slower also in its fastest process.
	fastest := stats.Change(slices.Min(s.levels[0]), slices.Min(s.levels[1]))
	if s.evidence.Change < 0 && fastest >= -slow || s.evidence.Change > 0 && fastest <= fast {
		return &Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("%s, but the fastest processes of the two sides say %s: a neighbour may have slowed the others", faster(s.evidence.Change), faster(fastest))}
	}
	return s.orderDrift()
}
