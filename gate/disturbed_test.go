package gate

import (
	"strings"
	"testing"
)

func TestDisturbedComparisonDecidesNothing(t *testing.T) {
	for _, verdict := range Verdicts {
		c := Comparison{Decision: Decision{Verdict: verdict, Reason: "so it is"}}.disturbed([]string{"python (process 7)"})
		switch {
		case verdict == Wrong:
			if c.Verdict != Wrong || c.Reason != "so it is" {
				t.Errorf("wrong became %s: %s", c.Verdict, c.Reason)
			}
		case c.Verdict != Inconclusive || !strings.Contains(c.Reason, "python (process 7)") || !strings.Contains(c.Reason, string(verdict)):
			t.Errorf("%s became %s: %s", verdict, c.Verdict, c.Reason)
		}
	}
}

func TestDriftIsNoted(t *testing.T) {
	steady, falling := []float64{1, 1, 1, 1, 1, 1}, []float64{1, 1, 0.8, 0.8, 0.6, 0.6}
	if note := driftNote(Candidate, [][]float64{steady, steady, falling}); note != "" {
		t.Errorf("one process of three: %s", note)
	}
	// From 1 to 0.6 is 40 % faster.
	if note := driftNote(Candidate, [][]float64{steady, falling, falling}); note != "the candidate becomes faster by 40.0 % inside a process" {
		t.Errorf("two of three: %q", note)
	}
}
