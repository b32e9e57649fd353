package studies

import (
	"reflect"
	"testing"
	"time"

	"pawl/objective/profile"
)

// exampleProfile has a value in each column.
func exampleProfile() Profile {
	return Profile{
		Point: examplePoint(1), Workload: "w", Tool: "Nsight Compute", Report: "a.ncu-rep", Created: time.Unix(1e9, 0),
		Binary:  "binary 1",
		Metrics: profile.Metrics{"gpu__time_duration.sum": 1e-6},
	}
}

// What was counted is read as it was written, numbered in the order of time.
func testProfiles(t *testing.T, e testEngine) {
	store := e.open(t, e.place(t))
	record(t, store)
	got, err := store.Profiles(t.Context(), 2)
	if err != nil || len(got) != 6 {
		t.Fatal(len(got), err)
	}
	want := exampleProfile()
	want.Number, want.Created = 6, want.Created.UTC()
	if !reflect.DeepEqual(got[5], want) {
		t.Errorf("got %+v, want %+v", got[5], want)
	}
	if none, err := store.Profiles(t.Context(), 99); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
	if err := store.Profiled(t.Context(), 99, exampleProfile()); err == nil {
		t.Error("a study that there is not was profiled")
	}
}
