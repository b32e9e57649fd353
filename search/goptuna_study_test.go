package search

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/c-bata/goptuna"

	"pawl/objective"
	"pawl/search/sampler"
	"pawl/search/trial"
	"pawl/space"
)

// forgetful records nothing.
type forgetful struct{}

func (forgetful) Started(trial.Trial) error                  { return nil }
func (forgetful) Finished(trial.Trial) error                 { return nil }
func (forgetful) Disqualified(int, *objective.Failure) error { return nil }
func (forgetful) Measured(trial.Round) error                 { return nil }

// studyOf returns a study of some parameters with so many values each.
func studyOf(t testing.TB, values ...int) *study {
	t.Helper()
	var params []space.Param
	for i, count := range values {
		p := space.Param{Name: string(rune('A' + i)), Ordered: true, Default: space.IntegerValue(0)}
		for v := range count {
			p.Values = append(p.Values, space.IntegerValue(int64(v)))
		}
		params = append(params, p)
	}
	sp, err := space.New(params, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := sp.Pool(space.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newStudy(pool, Options{Sampler: "random", Seed: 1}.withDefaults(), forgetful{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// finishNext asks for a trial and finishes it.
func (s *study) finishNext(t testing.TB, milliseconds float64) {
	t.Helper()
	trial, err := s.ask()
	if err != nil {
		t.Fatal(err)
	}
	trial.Finished, trial.Outcome.Samples = true, []float64{milliseconds}
	if err := s.finish(trial); err != nil {
		t.Fatal(err)
	}
}

// A trial that was disqualified is not the best any more, for the study and for the
// samplers.
func TestADisqualifiedTrialIsNotTheBest(t *testing.T) {
	s := studyOf(t, 3)
	for _, value := range []float64{3, 1, 2} {
		s.finishNext(t, value)
	}
	for _, want := range []int{1, 2, 0} {
		best, found := s.best()
		var seen sampler.Observation
		for _, o := range s.view.Observations {
			if !o.Failed && (seen.Milliseconds == 0 || o.Milliseconds < seen.Milliseconds) {
				seen = o
			}
		}
		if !found || best.Number != want || s.pool.Point(seen.Index) != best.Point {
			t.Fatalf("the best is %d (%s), the view's %s; want %d", best.Number, best.Point, s.pool.Point(seen.Index), want)
		}
		if err := s.disqualify(want, &objective.Failure{Stage: objective.Fuzz, Reason: objective.WrongResult}); err != nil {
			t.Fatal(err)
		}
	}
	if best, found := s.best(); found {
		t.Errorf("all are disqualified, and the best is %d", best.Number)
	}
	trials, err := s.goptuna.GetTrials()
	if err != nil || len(trials) != 3 {
		t.Fatalf("goptuna has %d trials, %v", len(trials), err)
	}
	for i, trial := range trials {
		if trial.Number != i || trial.State != goptuna.TrialStateFail || trial.Params["A"] != value(s.trials[i].Point, "A") {
			t.Errorf("goptuna's trial %d is %+v", i, trial)
		}
	}
}

func value(p space.Point, name string) string {
	for _, a := range p.Assignments() {
		if a.Name == name {
			return a.Value.String()
		}
	}
	return ""
}

// What arrived out of order is learned from in that order when a study is resumed.
func TestRestoreKeepsTheOrderOfTheAnswers(t *testing.T) {
	first := studyOf(t, 5)
	for range 4 {
		if _, err := first.ask(); err != nil {
			t.Fatal(err)
		}
	}
	for i, number := range []int{2, 0, 3} {
		trial := first.trials[number]
		trial.Finished, trial.Outcome.Samples = true, []float64{float64(1 + number)}
		trial.Elapsed = time.Duration(i) * time.Second
		if err := first.finish(trial); err != nil {
			t.Fatal(err)
		}
	}
	second := studyOf(t, 5)
	running, err := second.restore(first.trials)
	if err != nil || len(running) != 1 || running[0].Number != 1 {
		t.Fatalf("running %v, %v", running, err)
	}
	if !slices.Equal(second.view.Observations, first.view.Observations) ||
		!slices.Equal(second.view.Pending, first.view.Pending) {
		t.Errorf("observed %v, pending %v; want %v and %v", second.view.Observations, second.view.Pending,
			first.view.Observations, first.view.Pending)
	}
}

// goptuna holds every trial, with the point that was asked and its time.
func TestGoptunaKnowsTheTrials(t *testing.T) {
	s := studyOf(t, 4, 1, 5)
	for i := range 20 {
		s.finishNext(t, 1+math.Abs(float64(i)-7))
	}
	trials, err := s.goptuna.GetTrials()
	if err != nil || len(trials) != 20 {
		t.Fatalf("%d trials, %v", len(trials), err)
	}
	for i, trial := range trials {
		for _, a := range s.trials[i].Point.Assignments() {
			if got := trial.Params[a.Name]; got != a.Value.String() {
				t.Errorf("trial %d: goptuna has %s=%v, the point is %s", i, a.Name, got, s.trials[i].Point)
			}
		}
	}
	if value, err := s.goptuna.GetBestValue(); err != nil || value != 1 {
		t.Errorf("goptuna's best value is %v, %v; want 1", value, err)
	}
}

// BenchmarkStudy is the bookkeeping of a thousand trials.
func BenchmarkStudy(b *testing.B) {
	for b.Loop() {
		s := studyOf(b, 4, 5, 4, 2, 2, 2, 2, 4, 2, 4)
		for i := range 1000 {
			s.finishNext(b, float64(i%17)+1)
		}
	}
}
