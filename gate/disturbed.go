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
func (c Comparison) WithConditions(samples Samples, conditions *worker.Conditions) Comparison {
	for _, arm := range []Arm{Baseline, Candidate} {
		if note := driftNote(arm, samples[arm]); note != "" {
			c.Notes = append(c.Notes, note)
		}
	}
	switch {
	case conditions == nil || len(conditions.Strangers) == 0:
	case conditions.Disturbed:
		c = c.disturbed(conditions.Strangers)
	default:
		c.Notes = append(c.Notes, "others were on the device and did not compute: "+strings.Join(conditions.Strangers, "; "))
	}
	return c
}

// disturbed is a comparison during which others computed on the device: it decides
// nothing, whatever the samples say. A result that is wrong stays wrong.
func (c Comparison) disturbed(by []string) Comparison {
	if c.Verdict != Wrong {
		c.Decision = Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("others computed on the device meanwhile: %s (the samples alone would say %s)", strings.Join(by, "; "), c.Verdict)}
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
