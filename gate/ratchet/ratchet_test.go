package ratchet

import (
	"path/filepath"
	"testing"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/policy"
	"pawl/gate/reporting"
)

// Two gates at the same time: both land where they are about different things. Where
// one has moved what the other was compared with, the later one leaves it, says so, and
// offers nothing to accept.
func TestTwoGatesAtOnceLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results", "baseline.json")
	entry := func(kernel, source string) baseline.Entry {
		e := baseline.Entry{Key: baseline.Key{Kernel: kernel, Device: "a chip"}, Source: source}
		e.Summarise([][]float64{{2, 2}, {2, 2}}, baseline.Work{})
		return e
	}
	put := func(entries ...baseline.Entry) {
		t.Helper()
		err := baseline.Update(path, func(f *baseline.File) error {
			for _, e := range entries {
				f.Put(e)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(entry("both", "first"))
	file, err := baseline.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	put(entry("both", "theirs"), entry("another", "theirs")) // while ours measures

	r := &run{
		Options: Options{
			Setting: Setting{Baseline: path}, Policy: &policy.File{}, Exit: func(*reporting.Report) int { return 0 },
		},
		file: file, current: baseline.New(),
	}
	for _, e := range []baseline.Entry{entry("both", "ours"), entry("new", "ours")} {
		err := r.add(outcome{
			result: reporting.Result{
				Key:        e.Key,
				Comparison: gate.Comparison{Method: gate.Interleaved, Decision: gate.Decision{Verdict: gate.Improvement}},
			},
			entry: e,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := r.conclude(); err != nil {
		t.Fatal(err)
	}
	after, err := baseline.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	for kernel, want := range map[string]string{"both": "theirs", "another": "theirs", "new": "ours"} {
		if e, _ := after.Find(entry(kernel, "").Key); e.Source != want {
			t.Errorf("%s is of %q, want %q", kernel, e.Source, want)
		}
	}
	if both := r.report.Results[0]; both.Moved || len(both.Notes) != 1 || !r.report.Results[1].Moved {
		t.Errorf("%+v", r.report.Results)
	}
	current, err := baseline.Read(filepath.Join(filepath.Dir(path), CurrentName))
	if err != nil || len(current.Entries) != 1 || current.Entries[0].Kernel != "new" {
		t.Errorf("%+v, %v", current.Entries, err)
	}
}

// What was compared before an error is saved, and moves the baseline only where nothing
// has failed. A report without all its results gives no answer.
func TestUnfinishedRunKeepsItsResults(t *testing.T) {
	for name, c := range map[string]struct {
		verdicts []gate.Verdict
		moved    bool
	}{
		"an improvement":                  {[]gate.Verdict{gate.Improvement}, true},
		"an improvement and a regression": {[]gate.Verdict{gate.Improvement, gate.Regression}, false},
	} {
		path := filepath.Join(t.TempDir(), "baseline.json")
		r := &run{
			Options: Options{Setting: Setting{Baseline: path}, Policy: &policy.File{}, Exit: func(r *reporting.Report) int {
				if !r.Finished() {
					return 3
				}
				return 0
			}},
			file: baseline.New(), current: baseline.New(),
		}
		r.report.Planned = 3
		for i, verdict := range c.verdicts {
			e := baseline.Entry{Key: baseline.Key{Kernel: string(verdict), Device: "a chip"}}
			e.Summarise([][]float64{{2, 2}, {2, 2}}, baseline.Work{})
			result := reporting.Result{
				Key:        e.Key,
				Comparison: gate.Comparison{Method: gate.Interleaved, Decision: gate.Decision{Verdict: verdict}},
			}
			if err := r.add(outcome{result: result, entry: e}); err != nil {
				t.Fatal(err)
			}
			_, events, _, err := History(path)
			current, currentErr := baseline.Read(filepath.Join(filepath.Dir(path), CurrentName))
			if err != nil || currentErr != nil || len(events) != i+1 || len(current.Entries) != i+1 || len(r.written) == 0 ||
				r.report.Exit != 3 {
				t.Errorf("%s, after %d: %d events, %d results, exit %d (%v, %v)", name, i+1, len(events), len(current.Entries),
					r.report.Exit, err, currentErr)
			}
		}
		if err := r.conclude(); err != nil {
			t.Fatal(err)
		}
		if f, err := Baseline(path); err != nil || (f != nil) != c.moved || r.report.Updated != c.moved {
			t.Errorf("%s: moved %v, want %v (%v)", name, f != nil, c.moved, err)
		}
	}
}
