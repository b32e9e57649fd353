package studies

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pawl/objective"
	"pawl/search/trial"
	"pawl/space"
)

func testRoundsOnOtherWorkloadsComeBack(t *testing.T, e testEngine) {
	place := e.place(t)
	store := e.open(t, place)
	workloads := []WorkloadFacts{{"small", "N=1"}, {"large", "N=9"}}
	id, err := store.Create(t.Context(), Study{Subject: Subject{Kernel: "k", Workload: "small"}, Workloads: workloads})
	if err != nil {
		t.Fatal(err)
	}
	p, err := space.ParsePoint("A=1")
	if err != nil {
		t.Fatal(err)
	}
	fine := trial.Round{
		Phase:   trial.Across,
		Run:     2,
		Number:  3,
		Point:   p,
		Outcome: objective.Outcome{Samples: []float64{1.5, 1.25}, Binary: "b"},
	}
	bad := trial.Round{Phase: trial.Across, Run: 2, Number: 4, Point: p,
		Outcome: objective.Outcome{
			Samples: []float64{},
			Failure: &objective.Failure{Stage: objective.Fuzz, Reason: "wrong", Detail: "by 1"},
		}}
	recorder := store.Recorder(id)
	if err := errors.Join(recorder.MeasuredAcross("large", fine), recorder.MeasuredAcross("other", bad)); err != nil {
		t.Fatal(err)
	}
	if err := recorder.MeasuredAcross("large", fine); err == nil {
		t.Error("a round was recorded twice")
	}
	got, err := store.Across(t.Context(), id)
	want := map[string][]trial.Round{"large": {fine}, "other": {bad}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	study, err := store.Study(t.Context(), id)
	if err != nil || !reflect.DeepEqual(study.Others(), workloads[1:]) {
		t.Errorf("the workloads are %v, %v", study.Workloads, err)
	}
	// Going on without them keeps them.
	if err := store.Continue(t.Context(), Study{ID: id}); err != nil {
		t.Fatal(err)
	}
	if study, err = store.Study(t.Context(), id); err != nil || len(study.Workloads) != 2 {
		t.Errorf("the workloads are %v, %v", study.Workloads, err)
	}
	// A time that is not what was recorded is found.
	if _, err := store.db.exec(t.Context(), "UPDATE across SET samples = '[1.5,1.125]' WHERE workload = 'large'"); err !=
		nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store = e.open(t, place)
	var damaged *DamagedError
	if _, err := store.Across(t.Context(), id); !errors.As(err, &damaged) ||
		!strings.Contains(err.Error(), "round 3 on workload large") {
		t.Errorf("got %v", err)
	}
}
