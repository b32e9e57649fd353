package gate

import (
	"fmt"
	"math"
	"slices"

	"pawl/internal/page"
	"pawl/internal/stats"
)

// How the levels of processes of the same code differ cannot be learned from a few
// of them, so what was seen elsewhere is assumed: on machines with neighbours, other
// page colours or another core, process levels with a standard deviation of 4 to
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
	return s.levelSpread() * math.Sqrt(1/float64(len(s.baseline))+1/float64(len(s.candidate)))
}

// explained is the log ratio that levels of processes may explain.
func (s *apart) explained() float64 { return assumedReach * s.levelError() }

// judgeFew decides where a side has fewer processes than would show how they
// differ: only what is beyond anything that levels explain is told, and what is not
// told is not called equal either.
func (s *apart) judgeFew(b stats.Bootstrap) Decision {
	e := s.evidence
	limit := s.explained()
	slow := max(math.Expm1(limit), 3*s.policy.Regression)
	fast := max(-math.Expm1(-limit), 3*s.policy.Improvement)
	told := fmt.Sprintf("with %s a side only a candidate slower by more than %s or faster by more than %s is told from one in another process", processCount(s.levels), page.Percent(slow), page.Percent(fast))
	advice := fmt.Sprintf("%s; measure each side in six processes or more, or together with pawl gate", told)
	if e.Change >= -slow && e.Change <= fast {
		return Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("%s; %s", faster(e.Change), advice)}
	}
	for i, processes := range [2][][]float64{s.baseline, s.candidate} {
		for _, samples := range processes {
			if size, how := s.policy.unsteady(samples); size > math.Abs(math.Log1p(-e.Change))/3 {
				return Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("drift: a process of the %s %s; %s", []Arm{Baseline, Candidate}[i], how, advice)}
			}
		}
	}
	switch {
	case !s.separate(b):
		return Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("%s, but the two sides come too close to each other; %s", faster(e.Change), advice)}
	case e.Change < 0:
		return Decision{Verdict: Regression, Reason: fmt.Sprintf("slower by %s, which other levels of the processes do not explain: %s", page.Percent(-e.Change), told)}
	case math.Abs(e.Delta) >= s.policy.Effect:
		return Decision{Verdict: Improvement, Reason: fmt.Sprintf("faster by %s, which other levels of the processes do not explain: %s", page.Percent(e.Change), told)}
	}
	return Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("faster by %s, but δ is %.2f, below %.2g", page.Percent(e.Change), e.Delta, s.policy.Effect)}
}

// separate reports that the sides differ also without their levels: all processes of
// one are beyond all of the other, by half of what levels may explain, and there are samples enough for intervals
// inside the processes, which are disjoint.
func (s *apart) separate(b stats.Bootstrap) bool {
	if s.gap() < s.explained()/2 {
		return false
	}
	var intervals [2]stats.Interval
	for i, processes := range [2][][]float64{s.baseline, s.candidate} {
		samples := slices.Concat(processes...)
		if len(samples) < enoughProcesses {
			return false
		}
		intervals[i] = b.Block(samples, 0)
	}
	return intervals[0].Disjoint(intervals[1])
}
