package gate

import (
	"fmt"
	"math"
	"strings"

	"pawl/internal/stats"
)

// Disturbed is a comparison during which others computed on the device: it decides
// nothing, whatever the samples say. A result that is wrong stays wrong.
func (c Comparison) Disturbed(by []string) Comparison {
	if c.Verdict != Wrong {
		c.Decision = Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("others computed on the device meanwhile: %s (the samples alone would say %s)", strings.Join(by, "; "), c.Verdict)}
	}
	return c
}

// LargeDrift is how much the times inside a process may change, from the first third
// of its samples to the last, without a word.
const LargeDrift = 0.03

// DriftNote is what to say about the drift inside the processes of an arm: nothing
// where it is small.
func DriftNote(arm Arm, processes [][]float64) string {
	var drifts []float64
	for _, samples := range processes {
		drifts = append(drifts, stats.Drift(samples))
	}
	if len(drifts) == 0 || math.Abs(stats.Median(drifts)) <= LargeDrift {
		return ""
	}
	return fmt.Sprintf("the %s becomes %s inside a process", arm, faster(stats.Median(drifts)))
}
