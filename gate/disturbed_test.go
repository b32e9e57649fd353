package gate

import (
	"strings"
	"testing"

	"pawl/objective/worker"
)

func TestDisturbedComparisonDecidesNothing(t *testing.T) {
	for _, verdict := range Verdicts {
		c := Comparison{Decision: Decision{Verdict: verdict, Reason: "so it is"}}.disturbed([]string{"python (process 7)"})
		switch {
		case verdict == Wrong:
			if c.Verdict != Wrong || c.Reason != "so it is" {
				t.Errorf("wrong became %s: %s", c.Verdict, c.Reason)
			}
		case c.Verdict != Inconclusive || !strings.Contains(c.Reason, "python (process 7)") ||
			!strings.Contains(c.Reason, string(verdict)):
			t.Errorf("%s became %s: %s", verdict, c.Verdict, c.Reason)
		}
	}
}

// A red verdict on a hot, throttled or shared device says so, with what each arm was measured at.
func TestConditionsAreNoted(t *testing.T) {
	cool := &worker.Conditions{ClockLow: 1965, ClockMedian: 1980, ClockHigh: 1980, Temperature: 41, Power: 300}
	hot := &worker.Conditions{
		ClockLow:       1700,
		ClockMedian:    1800,
		ClockHigh:      1980,
		Temperature:    86,
		Power:          690,
		Discarded:      3,
		Reasons:        "thermal slowdown",
		OtherProcesses: []string{"python (process 7)"},
	}
	red := Comparison{Decision: Decision{Verdict: Regression, Reason: "slower"}}
	c := red.WithConditions(nil, Conditions{Baseline: cool, Candidate: hot, Control: cool})
	notes := strings.Join(c.Notes, "\n")
	for _, want := range []string{"reached 86 °C while the candidate", "3 samples of the candidate", "process 7",
		"lower under the candidate than under the baseline, 1800 against 1980 MHz"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in:\n%s", want, notes)
		}
	}
	if c.Verdict != Regression || c.Conditions[Candidate] != hot {
		t.Errorf("%+v", c)
	}
	if c := red.WithConditions(nil, Conditions{Baseline: cool, Candidate: cool, Control: cool}); len(c.Notes) > 0 {
		t.Errorf("a cool device: %q", c.Notes)
	}
	hot.Disturbed = true
	if c := red.WithConditions(nil, Conditions{Baseline: cool, Candidate: cool, Control: hot}); c.Verdict != Inconclusive {
		t.Errorf("another computed while the control was measured: %s", c.Verdict)
	}
}

func TestDriftIsNoted(t *testing.T) {
	steady, falling := []float64{1, 1, 1, 1, 1, 1}, []float64{1, 1, 0.8, 0.8, 0.6, 0.6}
	if note := driftNote(Candidate, [][]float64{steady, steady, falling}); note != "" {
		t.Errorf("one process of three: %s", note)
	}
	// From 1 to 0.6 is 40 % faster.
	if note := driftNote(Candidate, [][]float64{steady, falling, falling}); note !=
		"the candidate becomes faster by 40.0 % inside a process" {
		t.Errorf("two of three: %q", note)
	}
}
