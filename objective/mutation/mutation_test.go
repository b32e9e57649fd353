package mutation

import (
	"errors"
	"os"
	"testing"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
)

// The checks are good enough when the quick tier catches nine of ten, the full tier all
// of them, timing every cheat, and no right kernel fails.
func TestGood(t *testing.T) {
	failure := &objective.Failure{Stage: objective.Fuzz, Reason: objective.WrongResult}
	table := func(quick, full, timed int, right *objective.Failure) *Report {
		r := &Report{Right: []RightKernel{{"k", right}}}
		for i := range 10 {
			var f Fate
			if i < quick {
				f.Quick = failure
			}
			if i < full {
				f.Full = failure
			}
			r.add(f)
		}
		cheat := Fate{Cheats: true}
		if timed > 0 {
			cheat.Timed = failure
		}
		r.add(cheat)
		return r
	}
	for _, test := range []struct {
		name   string
		report *Report
		want   bool
	}{
		{"all", table(10, 10, 1, nil), true},
		{"nine by the quick tier", table(9, 10, 1, nil), true},
		{"eight by the quick tier", table(8, 10, 1, nil), false},
		{"nine by the full tier", table(9, 9, 1, nil), false},
		{"a cheat passes", table(10, 10, 0, nil), false},
		{"a false alarm", table(10, 10, 1, failure), false},
	} {
		if got := test.report.Good(); got != test.want || test.report.Others() != 10 {
			t.Errorf("%s: %v of %d", test.name, got, test.report.Others())
		}
	}
}

// A tool must see every hidden mutant, by more than a wrong result or a hang, and nothing in the
// right kernels.
func TestWatchGood(t *testing.T) {
	finding := &objective.Failure{Stage: objective.Fuzz, Reason: "sanitizer finding"}
	wrong := &objective.Failure{Stage: objective.Fuzz, Reason: "wrong result"}
	hung := &objective.Failure{Stage: objective.Fuzz, Reason: "hung"}
	for _, test := range []struct {
		name   string
		mutant *objective.Failure
		right  *objective.Failure
		want   bool
	}{
		{"seen", finding, nil, true},
		{"not seen", nil, nil, false},
		{"a wrong result", wrong, nil, false},
		{"a kernel that hangs", hung, nil, false},
		{"a false alarm", finding, finding, false},
	} {
		w := &Watch{Right: []Sighting{{Failure: test.right}}}
		w.add(Sighting{Failure: finding})
		w.add(Sighting{Failure: test.mutant})
		if got := w.Good(); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func TestNothingToMutate(t *testing.T) {
	m := devices.Here(devices.Options{Cache: t.TempDir(), Getenv: os.Getenv, Notice: func(string) {}})
	if _, err := Run(t.Context(), m, kernels.Host, []string{"nothing"}, objective.Options{},
		func(string) {}); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if _, err := RunHidden(t.Context(), m, kernels.Host, []string{"attention"}, objective.Options{},
		func(string) {}); !errors.Is(err, ErrNone) {
		t.Error(err) // it has mutants, and none of them is hidden
	}
}
