package studies

import (
	"errors"
	"testing"

	"pawl/objective"
	"pawl/search/trial"
)

func testPulse(t *testing.T, e testEngine) {
	ctx, store := t.Context(), e.open(t, e.place(t))
	if _, err := store.Pulse(ctx, 1); !errors.Is(err, ErrNoStudy) {
		t.Errorf("no study: %v", err)
	}
	id, err := store.Create(ctx, Study{Kernel: "scale"})
	if err != nil {
		t.Fatal(err)
	}
	recorder := store.Recorder(id)
	before := Pulse{}
	changes := func(what string, want Pulse) {
		t.Helper()
		got, err := store.Pulse(ctx, id)
		if err != nil || got != want || got == before {
			t.Errorf("%s: %+v, want %+v, %v", what, got, want, err)
		}
		before = got
	}
	for number := range 3 {
		if err := recorder.Started(trial.Trial{Number: number, Point: examplePoint(number)}); err != nil {
			t.Fatal(err)
		}
	}
	changes("started", Pulse{Trials: 3})
	if err := recorder.Finished(trial.Trial{Number: 0, Outcome: objective.Outcome{Samples: []float64{1}}}); err != nil {
		t.Fatal(err)
	}
	changes("finished", Pulse{Trials: 3, Finished: 1})
	if err := recorder.Disqualified(99, &objective.Failure{Stage: objective.Fuzz, Reason: "wrong"}); err == nil {
		t.Error("a trial that is not there was disqualified")
	}
	if err := recorder.Disqualified(0, &objective.Failure{Stage: objective.Fuzz, Reason: "wrong"}); err != nil {
		t.Fatal(err)
	}
	changes("disqualified", Pulse{Trials: 3, Finished: 1, Failed: 1})
	if err := store.Finish(ctx, id, trial.Result{Ended: trial.TrialsDone, Elapsed: 7}); err != nil {
		t.Fatal(err)
	}
	changes("ended", Pulse{Trials: 3, Finished: 1, Failed: 1, Ended: trial.TrialsDone, Elapsed: 7})
	trials, err := store.TrialsFrom(ctx, id, 1)
	if err != nil || len(trials) != 2 || trials[0].Number != 1 {
		t.Errorf("%v, %v", trials, err)
	}
}

func testRunningAsksWithoutLocking(t *testing.T, e testEngine) {
	store := e.open(t, e.place(t))
	is := func(study int64, want bool) {
		t.Helper()
		if running, err := store.Running(study); running != want || err != nil {
			t.Errorf("study %d: %v, %v", study, running, err)
		}
	}
	is(1, false)
	unlock, err := store.Lock(1)
	if err != nil {
		t.Fatal(err)
	}
	is(1, true)
	is(2, false)
	unlock()
	is(1, false)
	if unlock, err = store.Lock(1); err != nil {
		t.Error("asking took the lock")
	} else {
		unlock()
	}
}
