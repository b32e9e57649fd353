package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"pawl/internal/page"
	"pawl/internal/stats"
)

// CompareApart judges two sides that were not measured together, unpaired: stored
// samples, or two files. Nothing cancels here. Another hour, another clock or another
// neighbor can make identical code differ, and no test on the samples can see
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
func CompareApart(baseline, candidate [][]float64, p Policy, method Method) Comparison {
	s := apart{
		policy: p,
		sides:  [2][][]float64{baseline, candidate},
		levels: [2][]float64{perProcess(baseline), perProcess(candidate)},
	}
	s.processes = min(len(baseline), len(candidate))
	s.evidence = s.weigh()
	c := Comparison{
		Method:    method,
		Evidence:  &s.evidence,
		Candidate: candidate,
		Notes:     append(p.notes(s.evidence), s.notes()...),
	}
	if s.few() {
		c.Decision = s.judgeFew()
	} else {
		c.Decision = s.judge()
	}
	return c
}

// WithStoredErosion holds a finished comparison against the stored samples of the
// best accepted entry, where that could not be rebuilt and measured.
func (c Comparison) WithStoredErosion(best [][]float64, p Policy) Comparison {
	if c.Verdict.Fails() || len(c.Candidate) == 0 {
		return c
	}
	limits := p
	limits.Regression = p.Erosion
	apart := CompareApart(best, c.Candidate, limits, Stored)
	c.Best = apart.Evidence
	if apart.Verdict == Regression {
		c.Decision = Decide(Regression, "%s", "erosion against the stored samples of the best accepted entry: "+apart.Reason)
	}
	return c
}

// apart is a comparison of two sides that share no rounds.
type apart struct {
	policy    Policy
	sides     [2][][]float64 // baseline and candidate, by process
	levels    [2][]float64   // of their processes, in order
	processes int            // of the side with fewer
	evidence  Evidence
}

var sideNames = [2]Arm{Baseline, Candidate}

// few reports that a side has too few processes to show how they differ.
func (s *apart) few() bool { return s.processes < fewestApart(s.policy.Alarm) }

// fewestApart is how many processes a side needs for the test of their levels to reach an alarm rate: of n and n, the
// most extreme of all orders is one of 2n over n, in two directions.
func fewestApart(alarm float64) int {
	processes, orders := 1, 2.0
	for 2/orders > alarm || processes < stats.FewestForInterval {
		processes++
		orders *= 2 * (2*float64(processes) - 1) / float64(processes)
	}
	return processes
}

// weigh compares the levels of the two sides.
func (s *apart) weigh() Evidence {
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
		Delta:     stats.CliffsDelta(slices.Concat(s.sides[0]...), slices.Concat(s.sides[1]...)),
		Spread:    math.Hypot(relativeSpread(s.levels[0]), relativeSpread(s.levels[1])),
		Baseline:  Describe(s.sides[0]), Candidate: Describe(s.sides[1]),
	}
	_, e.P = stats.MannWhitney(s.levels[0], s.levels[1])
	return e
}

func relativeSpread(values []float64) float64 { return spread(values) / stats.Median(values) }

// notes explain what may surprise a reader.
func (s *apart) notes() []string {
	var notes []string
	if s.few() {
		notes = append(notes,
			fmt.Sprintf("%s a side cannot show how processes differ: the interval assumes levels with a standard "+
				"deviation of %s", page.Count(s.processes, "process", "processes"), page.Percent(s.levelSpread())))
	}
	medians := stats.Change(s.evidence.Baseline.Median, s.evidence.Candidate.Median)
	if math.Abs(medians-s.evidence.Change) > s.policy.Regression {
		notes = append(notes,
			fmt.Sprintf("the change is the median over all pairs of a process from each side; the medians of the two sides "+
				"alone are apart by %s", page.Percent(math.Abs(medians))))
	}
	return notes
}

// judge decides where both sides have enough processes.
func (s *apart) judge() Decision {
	e, slow, fast := s.evidence, 2*s.policy.Regression, 2*s.policy.Improvement
	if d := s.insideDrift(); d != nil {
		return *d
	}
	const why = "two sides that were not measured together"
	proven := e.P <= s.policy.Alarm && !e.Interval.Contains(0)
	beyond := e.Change < -slow || e.Change > fast
	within := e.Interval.Low > -slow && e.Interval.High < fast
	if proven && beyond && !s.cleared(slow, fast) {
		if d := s.undecided(slow, fast); d != nil {
			return *d
		}
	}
	switch {
	case proven && e.Change < -slow:
		return Decide(Regression, "slower by %s, more than %s, the limit for %s", page.Percent(-e.Change), page.Percent(slow),
			why)
	case proven && e.Change > fast && math.Abs(e.Delta) >= s.policy.Effect:
		return Decide(Improvement, "faster by %s, more than %s, the limit for %s", page.Percent(e.Change), page.Percent(fast),
			why)
	case proven && (e.Change < -s.policy.Regression || e.Change > s.policy.Improvement):
		return Decide(Inconclusive,
			"%s, which proves nothing between %s; pawl gate measures them together", faster(e.Change), why)
	case proven:
		return Decision{Verdict: Maintained, Reason: fmt.Sprintf("%s, which is within the limits", faster(e.Change))}
	case within:
		return Decide(NoDifference, "the interval reaches from %s: not proven, and within the limits for %s",
			page.ChangeInterval(e.Interval), why)
	}
	return Decide(Inconclusive, "too noisy: the interval reaches from %s; about %.0f processes a side would decide",
		page.ChangeInterval(e.Interval), s.needed(slow, fast))
}

// needed is how many processes a side would decide: either prove a change of the
// size that was seen, or show that it is within the limits.
func (s *apart) needed(slow, fast float64) float64 {
	const (
		normal95 = 1.96 // standard errors from the middle of the interval to its end
		proven   = 4.2  // standard errors for p = 0.004 nine times of ten
	)
	e, n := s.evidence, float64(s.processes)
	half := (e.Interval.High - e.Interval.Low) / 2
	if e.Change < -slow || e.Change > fast {
		half *= proven / normal95 / math.Abs(e.Change)
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
	if s.processes < orderedProcesses && s.gap() < s.difference()/2 {
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

// undecided says why a proven difference decides nothing although some process of one side
// lies among those of the other.
func (s *apart) undecided(slow, fast float64) *Decision {
	if s.processes < orderedProcesses {
		return new(Decide(Inconclusive,
			"%s, but the nearest processes of the two sides differ by too little (the limit is %s, %s "+
				"for a gain, and half of the difference); with %d processes a side a change of the machine cannot be ruled out: "+
				"measure %d", faster(s.evidence.Change), page.Percent(slow), page.Percent(fast), s.processes, orderedProcesses))
	}
	// Interference only adds time, and may stay with a side for most of its run: what
	// is slower is slower also in its fastest process.
	fastest := stats.Change(slices.Min(s.levels[0]), slices.Min(s.levels[1]))
	if s.evidence.Change < 0 && fastest >= -slow || s.evidence.Change > 0 && fastest <= fast {
		return new(Decide(Inconclusive, "%s, but the fastest processes of the two sides say %s: a neighbor may have slowed "+
			"the others", faster(s.evidence.Change), faster(fastest)))
	}
	return s.orderDrift()
}

// How the levels of processes of the same code differ cannot be learned from a few
// of them, so what was seen elsewhere is assumed: on machines with neighbors, other
// page colors or another core, process levels with a standard deviation of 4 to
// 10 %, and two modes of 12 to 25 %.
const (
	// assumedSpread is the standard deviation of the log levels of processes, where
	// the sides themselves do not show a larger one.
	assumedSpread = 0.10
	// assumedReach is how many standard deviations levels are given: one comparison
	// in fifteen thousand is beyond it. It also covers two modes of 25 % with all
	// processes of a side in one of them.
	assumedReach = 4
)

// levelSpread is the standard deviation that is given to the levels: the assumed
// one, or what the sides show where that is more.
func (s *apart) levelSpread() float64 {
	squares, freedom := 0.0, 0
	for _, levels := range s.levels {
		mean := 0.0
		for _, level := range levels {
			mean += math.Log(level) / float64(len(levels))
		}
		for _, level := range levels {
			squares += math.Pow(math.Log(level)-mean, 2)
		}
		freedom += len(levels) - 1
	}
	if freedom == 0 {
		return assumedSpread
	}
	return max(assumedSpread, math.Sqrt(squares/float64(freedom)))
}

// levelError is the standard deviation of the log ratio of the two sides that
// levels alone bring.
func (s *apart) levelError() float64 {
	return s.levelSpread() * math.Sqrt(1/float64(len(s.sides[0]))+1/float64(len(s.sides[1])))
}

// explained is the log ratio that levels of processes may explain.
func (s *apart) explained() float64 { return assumedReach * s.levelError() }

// judgeFew decides where a side has fewer processes than would show how they
// differ: only what is beyond anything that levels explain decides, and what does not
// decide is not called equal either.
func (s *apart) judgeFew() Decision {
	e := s.evidence
	limit := s.explained()
	slow := max(math.Expm1(limit), 3*s.policy.Regression)
	fast := max(-math.Expm1(-limit), 3*s.policy.Improvement)
	limits := fmt.Sprintf("with %s a side only a candidate slower by more than %s or faster by more than %s can be "+
		"distinguished from the same code in another process", page.Count(s.processes, "process", "processes"),
		page.Percent(slow), page.Percent(fast))
	advice := fmt.Sprintf("%s; measure each side in %s processes or more, or together with pawl gate", limits,
		cmp.Or(map[int]string{6: "six"}[fewestApart(s.policy.Alarm)], strconv.Itoa(fewestApart(s.policy.Alarm))))
	if e.Change >= -slow && e.Change <= fast {
		return Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("%s; %s", faster(e.Change), advice)}
	}
	for i, processes := range s.sides {
		for _, samples := range processes {
			if size, how := s.policy.unsteady(samples); size > s.difference()/3 {
				return Decide(Inconclusive, "drift: a process of the %s %s; %s", sideNames[i], how, advice)
			}
		}
	}
	switch {
	case s.fewestSamples() < stats.FewestForInterval:
		return Decide(Inconclusive, "%s, but a side has only %s, and an interval needs %d; %s", faster(e.Change),
			page.Count(s.fewestSamples(), "sample"), stats.FewestForInterval, advice)
	case !s.separate():
		return Decide(Inconclusive, "%s, but the two sides come too close to each other; %s", faster(e.Change), advice)
	case e.Change < 0:
		return Decide(Regression, "slower by %s, more than processes of the same code differ: %s", page.Percent(-e.Change),
			limits)
	case math.Abs(e.Delta) >= s.policy.Effect:
		return Decide(Improvement, "faster by %s, more than processes of the same code differ: %s", page.Percent(e.Change),
			limits)
	}
	return Decide(Inconclusive,
		"faster by %s, but δ is %.2f, below %.2g", page.Percent(e.Change), e.Delta, s.policy.Effect)
}

// separate reports that the sides differ also without their levels: all processes of
// one are beyond all of the other, by half of what levels may explain, and the intervals inside the processes are
// disjoint.
func (s *apart) separate() bool {
	if s.gap() < s.explained()/2 {
		return false
	}
	var intervals [2]stats.Interval
	for i, processes := range s.sides {
		intervals[i] = stats.Bootstrap(0).Block(slices.Concat(processes...))
	}
	return intervals[0].Disjoint(intervals[1])
}

// fewestSamples is how many samples the side with fewer has.
func (s *apart) fewestSamples() int {
	return min(len(slices.Concat(s.sides[0]...)), len(slices.Concat(s.sides[1]...)))
}
