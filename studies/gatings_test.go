package studies

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pawl/internal/stats"
)

// exampleGating has a value in each column.
func exampleGating() Gating {
	speedup := 1.25
	return Gating{
		Point: examplePoint(1), Workload: "w", Standing: Faster, Verdict: "improvement", Reason: "faster",
		Created: time.Unix(1e9, 0),
		GatingFacts: GatingFacts{
			Speedup:       &speedup,
			Interval:      &stats.Interval{Low: 1.2, High: 1.3},
			BaselinePoint: "A=1",
			Rounds:        20,
			Notes:         []string{"a note"},
		},
		Result: json.RawMessage(`{"verdict":"improvement"}`),
	}
}

// What the gate said is read as it was written, numbered in the order of time.
func testGatings(t *testing.T, e testEngine) {
	store := e.open(t, e.place(t))
	record(t, store)
	got, err := store.Gatings(t.Context(), 2)
	if err != nil || len(got) != 6 {
		t.Fatal(len(got), err)
	}
	want := exampleGating()
	want.Number, want.Created = 6, want.Created.UTC()
	if !reflect.DeepEqual(got[5], want) {
		t.Errorf("got %+v, want %+v", got[5], want)
	}
	if none, err := store.Gatings(t.Context(), 99); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
	if err := store.Gated(t.Context(), 99, exampleGating()); err == nil {
		t.Error("a study that there is not was gated")
	}
}

// Several processes may gate one study at the same time: nothing is lost.
func testGatingsFromSeveralProcesses(t *testing.T, e testEngine) {
	place := e.place(t)
	first := e.open(t, place)
	id, err := first.Create(t.Context(), exampleStudy())
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error)
	for range 4 {
		go func() {
			store, err := Open(t.Context(), place)
			for i := 0; i < 5 && err == nil; i++ {
				err = store.Gated(t.Context(), id, exampleGating())
			}
			if store != nil {
				store.Close()
			}
			errs <- err
		}()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got, err := first.Gatings(t.Context(), id); err != nil || len(got) != 20 || got[19].Number != 20 {
		t.Errorf("%d gatings, %v", len(got), err)
	}
}
