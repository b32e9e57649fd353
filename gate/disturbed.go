package gate

import (
	"fmt"
	"math"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/objective/worker"
)

// WithConditions adds to a comparison what its samples and the conditions of the device say
// about it: drift inside processes, and others on the device.
func (c Comparison) WithConditions(samples Samples, conditions Conditions) Comparison {
	c.Conditions = conditions
	for _, arm := range []Arm{Baseline, Candidate} {
		if note := driftNote(arm, samples[arm]); note != "" {
			c.Notes = append(c.Notes, note)
		}
		c.Notes = append(c.Notes, conditions[arm].Warnings(string(arm))...)
	}
	if note := clockNote(conditions[Baseline], conditions[Candidate]); note != "" {
		c.Notes = append(c.Notes, note)
	}
	if all := conditions.Join(); all != nil && all.Disturbed {
		c = c.disturbed(all.OtherProcesses)
	}
	return c
}

// clockGap is how much the median clocks of two arms may differ without a note. Clocks
// move in steps of about 1 %.
const clockGap = 0.015

// clockNote says when the arms ran at different clocks: a kernel that draws more power
// has a lower clock, and is slower by that too.
func clockNote(baseline, candidate *worker.Conditions) string {
	if baseline == nil || candidate == nil || baseline.ClockMedian == 0 || candidate.ClockMedian == 0 {
		return ""
	}
	change := float64(candidate.ClockMedian)/float64(baseline.ClockMedian) - 1
	if math.Abs(change) <= clockGap {
		return ""
	}
	return fmt.Sprintf("the clock was %s under the candidate than under the baseline, %d against %d MHz: part of the "+
		"difference is the clock's (--lock-clocks takes it away)",
		map[bool]string{true: "higher", false: "lower"}[change > 0], candidate.ClockMedian, baseline.ClockMedian)
}

// disturbed is a comparison during which others computed on the device: it decides
// nothing, whatever the samples say. A result that is wrong stays wrong.
func (c Comparison) disturbed(by []string) Comparison {
	if c.Verdict != Wrong {
		c.Decision = Decide(Inconclusive, "others computed on the device meanwhile: %s (the samples alone would say %s)",
			strings.Join(by, "; "), c.Verdict)
	}
	return c
}

// largeDrift is how much the times inside a process may change, from the first third
// of its samples to the last, without a note.
const largeDrift = 0.03

// driftNote warns of drift inside the processes of an arm; it is empty where the
// drift is small.
func driftNote(arm Arm, processes [][]float64) string {
	if len(processes) == 0 {
		return ""
	}
	drift := stats.Median(collect.Each(processes, stats.Drift))
	if math.Abs(drift) <= largeDrift {
		return ""
	}
	return fmt.Sprintf("the %s becomes %s inside a process", arm, faster(drift))
}

// judgeConditions finds reasons not to trust the comparison at all.
func (p Policy) judgeConditions(w weighed) *Decision {
	if c := w.control; c.P <= w.guard() && math.Abs(c.Change) >= p.Regression/3 && !w.dwarfs(c.Change) {
		return &Decision{Inconclusive,
			fmt.Sprintf("A/A failed: the baseline differs from itself by %s (p = %.2g): something disturbs the order of "+
				"measurements", page.Percent(math.Abs(c.Change)), c.P), w.last}
	}
	if math.IsInf(w.tick, 1) {
		return &Decision{Inconclusive, "coarse clock: all samples are equal, so nothing is known about smaller differences",
			w.last}
	}
	var ratios, medians []float64
	for _, t := range w.rounds {
		ratios, medians = append(ratios, t.baseline-t.candidate), append(medians, math.Exp(t.baseline))
	}
	if moved, by := p.moved(ratios, w.guard()); moved && !w.dwarfs(by) {
		reason := fmt.Sprintf("drift: the ratio itself moved by %s during the run", page.Percent(by))
		if drift := stats.Drift(medians); drift < -throttled {
			reason = fmt.Sprintf("throttling: the baseline became %s slower during the run and the ratio moved by %s",
				page.Percent(-drift), page.Percent(by))
		}
		return &Decision{Inconclusive, reason, w.last}
	}
	return nil
}

// dwarfs reports whether the candidate is slower by so much more than the disturbance
// that the disturbance cannot be why: all of its interval beyond ten times as much. A
// gain never is: a baseline moves only on a machine that can be trusted.
func (w weighed) dwarfs(disturbance float64) bool {
	return w.proven(w.between) && w.between.Interval.High < -10*math.Abs(disturbance)
}

// guardLevel is the p-value at which the control, or a ratio that moves, says that something
// is wrong: for each, one comparison in a hundred is given up. Ten rounds can reach it, so
// that no analysis is without its guards.
const guardLevel = 0.01

// guard is the level of the guards: rows that are judged beside each other share it.
func (w weighed) guard() float64 { return guardLevel / float64(max(1, w.family)) }

// throttled is how much slower the baseline must have become for a moving ratio to
// be blamed on throttling.
const throttled = 0.05

// moved reports whether the ratio of the second half of the rounds differs from
// that of the first by more than the policy's limit, and not by chance. Then there
// is no one ratio to speak of.
func (p Policy) moved(ratios []float64, guard float64) (bool, float64) {
	half := len(ratios) / 2
	first, second := ratios[:half], ratios[len(ratios)-half:]
	by := math.Abs(math.Expm1(stats.Median(second) - stats.Median(first)))
	if by <= p.Regression {
		return false, by
	}
	_, chance := stats.MannWhitney(first, second)
	return chance <= guard, by
}
