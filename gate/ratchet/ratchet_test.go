package ratchet

import (
	"path/filepath"
	"testing"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/policy"
	"pawl/gate/report"
)

// Two gates at the same time: both land where they are about different things. Where
// one has moved what the other was held to, the later one leaves it, says so, and
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
		Options: Options{Policy: &policy.File{}, Baseline: path, Exit: func(*report.Report) int { return 0 }},
		file:    file, current: baseline.New(),
	}
	for _, e := range []baseline.Entry{entry("both", "ours"), entry("new", "ours")} {
		err := r.add(outcome{result: report.Result{Key: e.Key, Comparison: gate.Comparison{Decision: gate.Decision{Verdict: gate.Improvement}}}, entry: e, source: "archive", moves: true})
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
