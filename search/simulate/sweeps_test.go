package simulate

import (
	"path/filepath"
	"testing"

	"pawl/internal/thorough"
)

// What the default sampler reaches on real sweeps, one trial at a time: .992 over 24 seeds. Seeds are
// fixed, so that this fails only when the search has changed.
func TestAutoOnRecordedSweeps(t *testing.T) {
	if testing.Short() {
		t.Skip("about verdicts: the others run through the same goroutines")
	}
	files, err := filepath.Glob("../../docs/spaces/*.json.gz")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d sweeps, %v", len(files), err)
	}
	report, err := Run(t.Context(),
		Options{Files: files, Samplers: []string{"auto", "random"}, Seeds: thorough.Count(2, 4), Trials: 50, Ahead: 1})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, s := range report.Spaces {
		last := len(report.Budgets) - 1
		reached, random := s.Samplers[0].Fraction[last].Mean, s.Samplers[1].Fraction[last].Mean
		if reached <= random {
			t.Errorf("%s: %.3f of the optimum, random search %.3f", s.Name, reached, random)
		}
		sum += reached
	}
	if mean := sum / float64(len(report.Spaces)); mean < 0.98 {
		t.Errorf("%.3f of the optimum over all sweeps", mean)
	}
}
