package gate

import (
	"fmt"
	"math"
	"slices"

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
//   - a difference must exceed twice the policy's limits, and with fewer than six
//     processes a side, which cannot show how levels differ, also what levels were seen
//     to do elsewhere ([apart.explained]);
//   - half of the difference must show at both ends of both runs, in the first third of the
//     processes and in the last: a machine that moves during a run is not there from its
//     beginning to its end;
//   - drift inside processes of more than a third of the difference makes the verdict
//     inconclusive.
//
// The outer slices are processes, in the order measured.
func CompareApart(b stats.Bootstrap, baseline, candidate [][]float64, p Policy, method Method) Comparison {
	s := apart{
		policy: p,
		sides:  [2][][]float64{baseline, candidate},
		levels: [2][]float64{perProcess(baseline), perProcess(candidate)},
	}
	s.processes = min(len(baseline), len(candidate))
	s.evidence = s.weigh(b)
	return Comparison{
		Method:    method,
		Evidence:  &s.evidence,
		Candidate: candidate,
		Notes:     append(p.notes(s.evidence), s.notes()...),
		Decision:  s.judge(),
	}
}

// WithStoredErosion holds a finished comparison against the stored samples of the
// best accepted entry, where that could not be rebuilt and measured.
func (c Comparison) WithStoredErosion(b stats.Bootstrap, best [][]float64, p Policy) Comparison {
	if c.Verdict.Fails() || len(c.Candidate) == 0 {
		return c
	}
	limits := p
	limits.Regression = p.Erosion
	apart := CompareApart(b, best, c.Candidate, limits, Stored)
	c.Best = apart.Evidence
	if apart.Verdict == Regression {
		c.Decision = Decision{
			Verdict: Regression,
			Reason:  "erosion against the stored samples of the best accepted entry: " + apart.Reason,
		}
	}
	return c
}

// apartLevel is the p-value that proves a difference between two sides measured
// apart.
const apartLevel = 0.004

// apart is a comparison of two sides that share no rounds.
type apart struct {
	policy    Policy
	sides     [2][][]float64 // baseline and candidate, by process
	levels    [2][]float64   // of their processes, in order
	processes int            // of the side with fewer
	evidence  Evidence
}

// sideNames are the names of the sides.
var sideNames = [2]Arm{Baseline, Candidate}

// few reports that a side has too few processes to show how they differ.
func (s *apart) few() bool { return s.processes < stats.FewestForInterval }

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
		Delta:     stats.CliffsDelta(slices.Concat(s.sides[0]...), slices.Concat(s.sides[1]...)),
		Spread:    math.Hypot(relativeSpread(s.levels[0]), relativeSpread(s.levels[1])),
		Baseline:  Describe(b, s.sides[0]), Candidate: Describe(b, s.sides[1]),
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
				"deviation of %s", page.Count(s.processes, "process", "processes"), page.Percent(assumedSpread)))
	}
	medians := stats.Change(s.evidence.Baseline.Median, s.evidence.Candidate.Median)
	if math.Abs(medians-s.evidence.Change) > s.policy.Regression {
		notes = append(notes,
			fmt.Sprintf("the change is the median over all pairs of a process from each side; the medians of the two sides "+
				"alone are apart by %s", page.Percent(math.Abs(medians))))
	}
	return notes
}

// judge decides.
func (s *apart) judge() Decision {
	e, slow, fast := s.evidence, 2*s.policy.Regression, 2*s.policy.Improvement
	advice := "together with pawl gate"
	if s.few() {
		slow, fast = max(slow, math.Expm1(s.explained())), max(fast, -math.Expm1(-s.explained()))
		advice = "in six processes or more, or " + advice
	}
	limits := fmt.Sprintf("with %s a side only a candidate slower by more than %s or faster by more than %s can be "+
		"distinguished from the same code in another process", page.Count(s.processes, "process", "processes"),
		page.Percent(slow), page.Percent(fast))
	within := !s.few() && e.Interval.Low > -slow && e.Interval.High < fast
	switch doubt := s.doubt(); {
	case within && e.Interval.Contains(0):
		return Decision{
			Verdict: NoDifference,
			Reason: fmt.Sprintf("the interval reaches from %s: not proven, and within the limits for two sides that were "+
				"not measured together", page.ChangeInterval(e.Interval)),
		}
	case within && e.Change > -s.policy.Regression && e.Change < s.policy.Improvement:
		return Decision{Verdict: Maintained, Reason: fmt.Sprintf("%s, which is within the limits", faster(e.Change))}
	case e.Change >= -slow && e.Change <= fast:
		return Decision{
			Verdict: Inconclusive,
			Reason:  fmt.Sprintf("%s; %s; measure each side %s", faster(e.Change), limits, advice),
		}
	case doubt != "":
		return Decision{
			Verdict: Inconclusive,
			Reason:  fmt.Sprintf("%s, but %s; measure each side %s", faster(e.Change), doubt, advice),
		}
	case e.Change < 0:
		return Decision{Verdict: Regression, Reason: fmt.Sprintf("%s: %s", faster(e.Change), limits)}
	}
	return Decision{Verdict: Improvement, Reason: fmt.Sprintf("%s: %s", faster(e.Change), limits)}
}

// doubt says why a difference, however large, may be the machine's; it is empty where nothing does.
func (s *apart) doubt() string {
	e, difference := s.evidence, -math.Log1p(-s.evidence.Change)
	for i, processes := range s.sides {
		if len(slices.Concat(processes...)) < stats.FewestForInterval {
			return fmt.Sprintf("the %s has too few samples", sideNames[i])
		}
		if moved := stats.Median(each(processes, drift)); math.Abs(moved) > math.Abs(difference)/3 {
			return fmt.Sprintf("drift: the %s becomes %s inside a process", sideNames[i], faster(-math.Expm1(moved)))
		}
	}
	for _, baseline := range ends(s.levels[0]) {
		for _, candidate := range ends(s.levels[1]) {
			if (baseline-candidate)/difference < 0.5 {
				return "the first processes and the last say otherwise: the machine may have changed"
			}
		}
	}
	if !s.few() && (e.P > apartLevel || e.Interval.Contains(0)) {
		return fmt.Sprintf("too noisy: the interval reaches from %s", page.ChangeInterval(e.Interval))
	}
	return ""
}

// drift is the log ratio of the second half of a process to its first.
func drift(samples []float64) float64 {
	half := len(samples) / 2
	if half == 0 {
		return 0
	}
	return math.Log(stats.Median(samples[len(samples)-half:]) / stats.Median(samples[:half]))
}

// ends are the means of the logarithms of the first third of the levels and of the last.
func ends(levels []float64) [2]float64 {
	third := (len(levels) + 2) / 3
	return [2]float64{stats.Mean(logs(levels[:third])), stats.Mean(logs(levels[len(levels)-third:]))}
}

func logs(values []float64) []float64 {
	logs := make([]float64, len(values))
	for i, value := range values {
		logs[i] = math.Log(value)
	}
	return logs
}

// How the levels of processes of the same code differ cannot be learned from a few
// of them, so what was seen elsewhere is assumed: on machines with neighbors, other
// page colors or another core, process levels with a standard deviation of 4 to
// 10 %, and two modes of 12 to 25 %.
const (
	// assumedSpread is the standard deviation of the log levels of processes.
	assumedSpread = 0.10
	// assumedReach is how many standard deviations levels are given: one comparison
	// in fifteen thousand is beyond it. It also covers two modes of 25 % with all
	// processes of a side in one of them.
	assumedReach = 4
)

// levelError is the standard deviation of the log ratio of the two sides that
// levels alone bring.
func (s *apart) levelError() float64 {
	return assumedSpread * math.Sqrt(1/float64(len(s.sides[0]))+1/float64(len(s.sides[1])))
}

// explained is the log ratio that levels of processes may explain.
func (s *apart) explained() float64 { return assumedReach * s.levelError() }
