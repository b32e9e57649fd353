package search

import (
	"errors"
	"sync"
	"testing"

	"github.com/c-bata/goptuna"
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
