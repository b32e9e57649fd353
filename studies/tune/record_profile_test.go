package tune

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"pawl/objective"
	"pawl/objective/profile"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// exampleProfile is of the first trial of the example's study.
func exampleProfile(t *testing.T) *profile.Profile {
	t.Helper()
	point, err := space.ParsePoint("A=1")
	if err != nil {
		t.Fatal(err)
	}
	p := &profile.Profile{Created: time.Unix(1e9, 0), Tool: "Nsight Compute"}
	p.Metrics = profile.Metrics{"x": 1}
	p.Kernel, p.Workload, p.Dims, p.Point, p.Digest = "k", "w", "N=1", point, "0123456789abcdef"
	p.Environment = objective.Environment{Backend: "cuda", Device: "H200"}
	return p
}

// exampleStore has two studies of the profile's point.
func exampleStore(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "studies.db")
	store, err := studies.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for range 2 {
		id, err := store.Create(t.Context(),
			studies.Study{
				Subject: studies.Subject{
					Kernel:   "k",
					Workload: "w",
					Dims:     "N=1",
					Backend:  "cuda",
				},
				Environment: objective.Environment{Backend: "cuda", Device: "H200"},
			})
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range []string{"A=1", "A=2"} {
			point, err := space.ParsePoint(text)
			if err != nil {
				t.Fatal(err)
			}
			trial := trial.Trial{Number: i, Point: point}
			if err := store.Recorder(id).Started(trial); err != nil {
				t.Fatal(err)
			}
			trial.Finished = true
			trial.Outcome = objective.Outcome{
				Samples: []float64{2 - float64(i)},
				Binary:  "0123456789abcdef",
			}
			if err := store.Recorder(id).Finished(trial); err != nil {
				t.Fatal(err)
			}
		}
	}
	return path
}

// A profile stays with the newest study that has tried the point with this machine code.
func TestRecordAProfile(t *testing.T) {
	path := exampleStore(t)
	p := exampleProfile(t)
	study, err := RecordProfile(t.Context(), path, p)
	if err != nil || study != 2 {
		t.Fatalf("study %d, %v", study, err)
	}
	store, err := studies.OpenExisting(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for id, want := range map[int64]int{1: 0, 2: 1} {
		if kept, err := store.Profiles(t.Context(), id); err != nil || len(kept) != want {
			t.Errorf("study %d: %d profiles, %v", id, len(kept), err)
		}
	}
}

// Nothing is recorded with a study that has not run this code, on this device, or where nothing
// was counted; that is no error, and no database is made for it.
func TestRecordAProfileElsewhere(t *testing.T) {
	path := exampleStore(t)
	for name, change := range map[string]func(*profile.Profile){
		"other code":     func(p *profile.Profile) { p.Digest = "fedcba9876543210" },
		"other device":   func(p *profile.Profile) { p.Environment.Device = "A100" },
		"other workload": func(p *profile.Profile) { p.Workload = "x" },
		"other sizes":    func(p *profile.Profile) { p.Dims = "N=2" },
		"no counters":    func(p *profile.Profile) { p.Metrics = nil },
	} {
		p := exampleProfile(t)
		change(p)
		if study, err := RecordProfile(t.Context(), path, p); study != 0 || err != nil {
			t.Errorf("%s: study %d, %v", name, study, err)
		}
	}
	missing := filepath.Join(t.TempDir(), "none.db")
	if study, err := RecordProfile(t.Context(), missing, exampleProfile(t)); study != 0 || err != nil {
		t.Errorf("study %d, %v", study, err)
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a database was made")
	}
}
