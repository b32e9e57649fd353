package report

import (
	"strings"
	"testing"

	"pawl/internal/stats"
)

// Two times that do not divide to the speedup beside them are explained.
func TestASpeedupThatIsNoRatioIsExplained(t *testing.T) {
	s := &Summary{
		Default: &Timed{Milliseconds: 12}, Winner: &Timed{Milliseconds: 4},
		Evidence: &Evidence{Speedup: 2.3, Interval: stats.Interval{Low: 2, High: 2.5}},
	}
	const text = "with a ratio of 3.00. The speedup compares them round by round"
	if got := strings.Join(warnings(s), " "); !strings.Contains(got, text) {
		t.Errorf("%s", got)
	}
	s.Evidence.Interval.High = 3.1
	if got := strings.Join(warnings(s), " "); strings.Contains(got, "ratio") {
		t.Errorf("%s", got)
	}
}

// Any finalist will do only where all are as fast as the fastest.
func TestSlowFinalistsAreNotAsGood(t *testing.T) {
	for want, times := range map[string][]float64{
		"numbers 1, 2, 3 are within 5 %": {1, 1.02, 1.01}, "numbers 1, 3 are within 5 %": {1.01, 1.6, 1},
		"measure longer": {1, 1.2, 1.3},
	} {
		s, third := &Summary{Evidence: &Evidence{Best: 0.4}, Advice: Advice{Verdict: Apply}}, 0.3
		for _, ms := range times {
			s.Top = append(s.Top, Timed{Milliseconds: ms, Best: &third})
		}
		if got := strings.Join(warnings(s), " "); !strings.Contains(got, want) {
			t.Errorf("%v: %s", times, got)
		}
		// Where nothing is decided, none of them will do.
		s.Advice.Verdict = Unproven
		if got := strings.Join(warnings(s), " "); strings.Contains(got, want) {
			t.Errorf("unproven: %s", got)
		}
	}
}
