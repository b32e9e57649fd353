package search

import (
	"errors"
	"sync"
	"testing"

	"github.com/c-bata/goptuna"

	"pawl/objective"
	"pawl/search/sampler"
	"pawl/space"
)

func TestLedgerServesGoptuna(t *testing.T) {
	l := newLedger()
	study, err := goptuna.CreateStudy("s", goptuna.StudyOptionStorage(l), goptuna.StudyOptionLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := study.GetBestValue(); !errors.Is(err, goptuna.ErrNoCompletedTrials) {
		t.Errorf("best value of no trials: %v", err)
	}
	// goptuna's own loop runs on it: minimise (x-3)^2 by random search.
	err = study.Optimize(func(trial goptuna.Trial) (float64, error) {
		x, err := trial.SuggestFloat("x", -10, 10)
		return (x - 3) * (x - 3), err
	}, 50)
	if err != nil {
		t.Fatal(err)
	}
	trials, err := study.GetTrials()
	if err != nil || len(trials) != 50 {
		t.Fatalf("%d trials, %v", len(trials), err)
	}
	best := trials[0].Value
	for _, trial := range trials {
		best = min(best, trial.Value)
	}
	if got, err := study.GetBestValue(); err != nil || got != best {
		t.Errorf("best value %v, %v, want %v", got, err, best)
	}
	if err := l.SetTrialValue(0, 1); !errors.Is(err, goptuna.ErrTrialCannotBeUpdated) {
		t.Errorf("changing a finished trial: %v", err)
	}
	if _, err := l.GetTrial(99); !errors.Is(err, goptuna.ErrInvalidTrialID) {
		t.Errorf("a trial that is not there: %v", err)
	}
}

// A trial that was struck out is not goptuna's best any more.
func TestAStruckTrialIsNotTheBest(t *testing.T) {
	param := space.Param{Name: "A", Values: []space.Value{space.IntegerValue(0), space.IntegerValue(1), space.IntegerValue(2)}, Default: space.IntegerValue(0)}
	sp, err := space.New([]space.Param{param}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := sp.Pool(space.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sampler, err := sampler.New("random", sp, sampler.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	s, err := newStudy(pool, sampler, 1, nil, forgetful{})
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []float64{3, 1, 2} {
		trial, err := s.ask()
		if err != nil {
			t.Fatal(err)
		}
		trial.Told, trial.Outcome.Samples = true, []float64{value}
		if err := s.tell(trial); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{1, 2, 0} {
		best, err := s.goptuna.Storage.GetBestTrial(s.goptuna.ID)
		if err != nil || best.Number != want {
			t.Fatalf("the best is %d, %v; want %d", best.Number, err, want)
		}
		if _, err := s.strike(want, &objective.Failure{Stage: objective.Fuzz, Reason: objective.WrongResult}); err != nil {
			t.Fatal(err)
		}
	}
	if value, err := s.goptuna.GetBestValue(); !errors.Is(err, goptuna.ErrNoCompletedTrials) {
		t.Errorf("all are struck out, and the best value is %v, %v", value, err)
	}
}

// forgetful records nothing.
type forgetful struct{}

func (forgetful) Asked(Trial) error                    { return nil }
func (forgetful) Told(Trial) error                     { return nil }
func (forgetful) Struck(int, *objective.Failure) error { return nil }
func (forgetful) Measured(Round) error                 { return nil }

// Readers never see a map that a writer changes: run with -race.
func TestLedgerReadersDoNotRaceWithWriters(t *testing.T) {
	l := newLedger()
	id, err := l.CreateNewTrial(ledgerStudy)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				trial, err := l.GetTrial(id)
				if err != nil {
					t.Error(err)
				}
				_ = len(trial.Params)
				for range trial.UserAttrs {
				}
			}
		})
	}
	for i := range 200 {
		if err := l.SetTrialParam(id, "p", float64(i%2), goptuna.CategoricalDistribution{Choices: []string{"a", "b"}}); err != nil {
			t.Fatal(err)
		}
		if err := l.SetTrialUserAttr(id, "k", "v"); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
}
