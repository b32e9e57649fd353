package studies

import (
	"errors"
	"reflect"
	"testing"

	"pawl/objective"
	"pawl/search/trial"
)

func testPulse(t *testing.T, e testEngine) {
	ctx, store := t.Context(), e.open(t, e.place(t))
	if _, err := store.Pulse(ctx, 1); !errors.Is(err, ErrNoStudy) {
		t.Errorf("no study: %v", err)
	}
	id, err := store.Create(ctx, Study{Subject: Subject{Kernel: "scale"}})
	if err != nil {
		t.Fatal(err)
	}
	recorder := store.Recorder(id)
	before := Pulse{}
	changes := func(what string, want Pulse) {
		t.Helper()
		got, err := store.Pulse(ctx, id)
		if err != nil || got == before {
			t.Errorf("%s: %+v as before, %v", what, got, err)
		}
		before = got
		if got.Head = ""; got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
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
	if err := store.Finish(ctx, id, trial.Conclusion{Ended: trial.TrialsDone, Elapsed: 7}); err != nil {
		t.Fatal(err)
	}
	changes("ended", Pulse{Trials: 3, Finished: 1, Failed: 1, Ended: trial.TrialsDone, Elapsed: 7})
	if err := store.Annotate(ctx, id, Annotations{Note: "odd"}); err != nil {
		t.Fatal(err)
	}
	changes("a note", Pulse{Trials: 3, Finished: 1, Failed: 1, Ended: trial.TrialsDone, Elapsed: 7})
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

func testAnnotationsAndDeletion(t *testing.T, e testEngine) {
	ctx, place := t.Context(), e.place(t)
	store := e.open(t, place)
	var kept [2]int64
	for i := range kept {
		var err error
		if kept[i], err = store.Create(ctx, Study{Subject: Subject{Kernel: "scale"}, Seed: 7}); err != nil {
			t.Fatal(err)
		}
		if err := store.Recorder(kept[i]).Started(trial.Trial{Point: examplePoint(1)}); err != nil {
			t.Fatal(err)
		}
	}
	want := Annotations{Note: "it's odd", Applied: "2026-01-02", Rivals: map[string]float64{"vendor": 0.5}}
	if err := store.Annotate(ctx, kept[0], want); err != nil {
		t.Fatal(err)
	}
	again := e.open(t, place) // digests are compared
	got, err := again.Study(ctx, kept[0])
	if err != nil || !reflect.DeepEqual(got.Annotations, want) || got.Seed != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	unlock, err := again.Lock(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Delete(ctx, kept[0]); !errors.Is(err, ErrBusy) {
		t.Errorf("deleting a study that runs: %v", err)
	}
	unlock()
	if err := store.Delete(ctx, kept[0]); err != nil {
		t.Fatal(err)
	}
	all, err := again.List(ctx)
	if err != nil || len(all) != 1 || all[0].ID != kept[1] {
		t.Errorf("%+v, %v", all, err)
	}
	if trials, err := store.TrialsFrom(ctx, kept[0], 0); err != nil || len(trials) != 0 {
		t.Errorf("%d trials of a deleted study, %v", len(trials), err)
	}
	if trials, err := store.TrialsFrom(ctx, kept[1], 0); err != nil || len(trials) != 1 {
		t.Errorf("%d trials of the other study, %v", len(trials), err)
	}
}
