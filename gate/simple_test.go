package gate

import (
	"strings"
	"testing"
)

func TestSimpleRule(t *testing.T) {
	base := noisy(1, 1, 100, 0.005, level(1))
	wide := noisy(1, 1, 100, 0.3, level(1))
	for name, c := range map[string]struct {
		base, candidate [][]float64
		want            Verdict
		reason          string
	}{
		"equal":                  {base, noisy(2, 1, 100, 0.005, level(1)), NoDifference, "overlap"},
		"2 % slower":             {base, noisy(2, 1, 100, 0.005, level(1.02)), Maintained, "within the limits"},
		"4 % slower":             {base, noisy(2, 1, 100, 0.005, level(1.04)), Regression, "more than 3.0 %"},
		"4 % slower, many noisy": {wide, noisy(2, 1, 100, 0.3, level(1.04)), NoDifference, "overlap"},
		"4 % faster":             {base, noisy(2, 1, 100, 0.005, level(0.96)), Maintained, "within the limits"},
		"7 % faster":             {base, noisy(2, 1, 100, 0.005, level(0.93)), Maintained, "move a baseline"},
		"12 % faster":            {base, noisy(2, 1, 100, 0.005, level(0.88)), Improvement, "more than 10.0 %"},
		"12 % faster, δ small": {noisy(1, 1, 4000, 1, level(1)), noisy(2, 1, 4000, 1, level(0.86)), Maintained,
			"|δ| ≥ 0.3"},
		"processes are pooled": {noisy(1, 3, 30, 0.005, level(1)), noisy(2, 5, 10, 0.005, level(1.5)), Regression,
			"disjoint"},
	} {
		got := CompareSimple(c.base, c.candidate, Presets["standard"])
		if got.Verdict != c.want || !strings.Contains(got.Reason, c.reason) || got.Rule != Simple {
			t.Errorf("%s: %s (%s), want %s (%s)", name, got.Verdict, got.Reason, c.want, c.reason)
		}
	}
}
