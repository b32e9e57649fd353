package across_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/internal/kerneltest"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/across"
	"pawl/studies/report"
	"pawl/studies/tune"
)

func TestMain(m *testing.M) {
	devices.Serve() // or every worker of a test would run all tests
	os.Exit(m.Run())
}

// scale is a kernel whose winner FAST=1 does a hundredth of the work, is wrong where N is
// 64, and is not valid where N is 200.
var scale = kerneltest.Scale{
	Params:    []string{"FAST: {values: [0, 1], default: 0}"},
	Workloads: []string{"small: {N: 16}", "wrong: {N: 64}", "invalid: {N: 200}", "other: {N: 32}"},
	More:      "constraints: [FAST == 0 || N < 150]\n",
	Repeats:   "FAST ? 1 : 100", Factor: "FAST && N == 64 ? 3 : 2",
}

// tuned tunes the kernel and returns the database.
func tuned(t *testing.T) *studies.Store {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := scale.Write("scale"); err != nil {
		t.Fatal(err)
	}
	summary, err := tune.Run(t.Context(), tune.Options{
		Study: studies.Options{
			Definition: studies.Definition{Backend: "host", Sampler: "grid", Seed: 1, Samples: 5},
			Goals:      trial.Goals{Trials: 2, Rounds: 3, Finalists: 1},
		},
		Kernel: "scale", Database: "studies.db", Tools: tools(t), Observer: tune.Unobserved{},
	})
	if err != nil {
		t.Fatal(err)
	}
	if summary.Winner == nil || summary.Winner.Point.String() != "FAST=1" {
		t.Fatalf("the winner is %v", summary.Winner)
	}
	store, err := studies.OpenExisting(t.Context(), "studies.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func tools(t *testing.T) devices.Tools {
	return devices.Tools{Cache: "cache", Getenv: os.Getenv, Notice: func(text string) { t.Log(text) }}
}

// results are what the report says about the other workloads.
func results(t *testing.T, store *studies.Store, id int64) string {
	t.Helper()
	s, err := report.Read(t.Context(), store, id)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, w := range s.Across.Workloads {
		texts = append(texts, fmt.Sprintf("%s: %s", w.Workload, w.Result))
	}
	return strings.Join(texts, ", ")
}

// count counts the rounds on other workloads.
func count(t *testing.T, store *studies.Store, id int64) int {
	t.Helper()
	all, err := store.Across(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, rounds := range all {
		n += len(rounds)
	}
	return n
}

func TestTheWinnerOnOtherWorkloads(t *testing.T) {
	store := tuned(t)
	var begun []string
	o := across.Options{Tools: tools(t),
		Begin: func(w studies.WorkloadFacts) { begun = append(begun, w.Name) }}

	unlock, err := store.Lock(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := across.Run(t.Context(), store, 1, o); !errors.Is(err, studies.ErrBusy) {
		t.Errorf("somebody else runs the study: %v", err)
	}
	unlock()

	stopped := o
	stop := make(chan struct{})
	close(stop)
	stopped.Stop = stop
	late := o
	late.Budget = 1
	for _, o := range []across.Options{stopped, late} {
		if err := across.Run(t.Context(), store, 1, o); err != nil || count(t, store, 1) > 0 {
			t.Errorf("%d rounds, %v", count(t, store, 1), err)
		}
	}

	killed(t, store)
	if got := results(t, store, 1); !strings.HasSuffix(got, "other: not measured") {
		t.Errorf("what a killed run has left says %s", got)
	}
	if err := across.Run(t.Context(), store, 1, o); err != nil {
		t.Fatal(err)
	}
	if got := results(t, store, 1); got != "wrong: the winner fails, invalid: the winner fails, other: faster" {
		t.Errorf("got %s", got)
	}
	if strings.Join(begun, " ") != "other" {
		t.Errorf("measured on %v", begun)
	}
	// What was measured is kept; what failed for good is not said twice.
	before := count(t, store, 1)
	begun = nil
	if err := across.Run(t.Context(), store, 1, o); err != nil || len(begun) > 0 || count(t, store, 1) != before {
		t.Errorf("measured again on %v, %d rounds and then %d, %v", begun, before, count(t, store, 1), err)
	}
	elsewhere(t, store, o)

	if err := os.WriteFile("scale/scale.c", []byte(scale.Source()+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := across.Run(t.Context(), store, 1, o); err == nil ||
		!strings.Contains(err.Error(), "are not those of study 1") {
		t.Errorf("other sources: %v", err)
	}
}

// killed records what a run leaves that was killed in its third round. The next one goes on with
// the whole rounds.
func killed(t *testing.T, store *studies.Store) {
	t.Helper()
	for i, text := range []string{"FAST=0", "FAST=1", "FAST=0", "FAST=1", "FAST=0"} {
		p, err := space.ParsePoint(text)
		if err != nil {
			t.Fatal(err)
		}
		round := trial.Round{
			Phase:   trial.Across,
			Run:     4,
			Number:  i / 2,
			Point:   p,
			Outcome: objective.Outcome{Samples: []float64{1 - 0.9*float64(i%2)}},
		}
		if err := store.Recorder(1).MeasuredAcross("other", round); err != nil {
			t.Fatal(err)
		}
	}
}

// elsewhere measures a copy of the study that says to come from another compiler.
func elsewhere(t *testing.T, store *studies.Store, o across.Options) {
	t.Helper()
	study, err := store.Study(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	past, err := store.Past(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	study.Environment.Compiler = "cc of last year"
	id, err := store.Create(t.Context(), study)
	if err != nil {
		t.Fatal(err)
	}
	recorder := store.Recorder(id)
	for _, trial := range past.Trials {
		err = errors.Join(err, recorder.Started(trial), recorder.Finished(trial))
	}
	for _, round := range past.Rounds {
		err = errors.Join(err, recorder.Measured(round))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := across.Run(t.Context(), store, id, o); err == nil ||
		!strings.Contains(err.Error(), `another compiler: "cc of last year" then`) {
		t.Errorf("another compiler: %v", err)
	}
}

func TestNothingToMeasureElsewhere(t *testing.T) {
	store, err := studies.Open(t.Context(), filepath.Join(t.TempDir(), "studies.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	id, err := store.Create(t.Context(),
		studies.Study{
			Subject: studies.Subject{Kernel: "scale"},
			Space:   studies.SpaceFacts{Params: []studies.ParamFacts{{Name: "A", Values: []string{"1"}, Default: "1"}}},
		})
	if err != nil {
		t.Fatal(err)
	}
	var nothing *devices.NothingError
	if err := across.Run(t.Context(), store, id, across.Options{}); !errors.As(err, &nothing) {
		t.Errorf("no winner: %v", err)
	}
	if err := across.Run(t.Context(), store, id+1, across.Options{}); !errors.Is(err, studies.ErrNoStudy) {
		t.Errorf("no study: %v", err)
	}
}
