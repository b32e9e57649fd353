package gate

import (
	"fmt"
	"math"
	"strings"

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
		c.Decision = Decision{
			Verdict: Inconclusive,
			Reason: fmt.Sprintf("others computed on the device meanwhile: %s (the samples alone would say %s)",
				strings.Join(by, "; "), c.Verdict),
		}
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
	drift := stats.Median(each(processes, stats.Drift))
	if math.Abs(drift) <= largeDrift {
		return ""
	}
	return fmt.Sprintf("the %s becomes %s inside a process", arm, faster(drift))
}
