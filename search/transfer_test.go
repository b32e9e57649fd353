package search_test

import (
	"slices"
	"testing"

	"pawl/objective"
	"pawl/search"
	"pawl/space"
)

// finished makes a told trial.
func finished(t *testing.T, number int, text string, ms float64) search.Trial {
	t.Helper()
	p, err := space.ParsePoint(text)
	if err != nil {
		t.Fatal(err)
	}
	trial := search.Trial{Number: number, Point: p, Told: true}
	if ms > 0 {
		trial.Outcome.Samples = []float64{ms}
	} else {
		trial.Outcome.Failure = &objective.Failure{Stage: objective.Fuzz, Reason: objective.WrongResult}
	}
	return trial
}

func TestTransferTakesTheBestOfEachStudyInTurn(t *testing.T) {
	pool := recordedSpace(t).Pool()
	one := []search.Trial{
		finished(t, 0, "DEAD=1,M=16,N=16,STAGES=1", 1), // the default: tried anyway
		finished(t, 1, "DEAD=1,M=32,N=16,STAGES=1", 2),
		finished(t, 2, "DEAD=1,M=64,N=16,STAGES=1", 3), // too much like the best
		finished(t, 3, "DEAD=1,M=64,N=32,STAGES=2", 4),
		finished(t, 4, "DEAD=1,M=128,N=16,STAGES=1", 0), // failed
	}
	two := []search.Trial{
		finished(t, 0, "GONE=7,M=100,N=16,STAGES=1", 5), // a value between 64 and 128, an unknown name, a missing one
	}
	// Points that are only in the way: recommendations come from the best quarter.
	for _, study := range []*[]search.Trial{&one, &two} {
		for range 12 {
			*study = append(*study, finished(t, len(*study), "DEAD=1,M=16,N=16,STAGES=1", 50))
		}
	}
	var got []string
	for _, p := range search.Transfer(pool, one, two) {
		got = append(got, p.String())
	}
	want := []string{"DEAD=1,M=32,N=16,STAGES=1", "DEAD=1,M=128,N=16,STAGES=1", "DEAD=1,M=64,N=32,STAGES=2"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFirstPointsFollowTheDefault(t *testing.T) {
	s := recordedSpace(t)
	first := []space.Point{s.Optimum().Point, s.Space().Default(), s.Optimum().Point}
	m, _ := runStudy(t, s, search.Past{}, search.Options{Seed: 1, Trials: 10, Rounds: 3, First: first})
	if m.trials[0].Point != s.Space().Default() || m.trials[1].Point != s.Optimum().Point {
		t.Errorf("began with %s, %s", m.trials[0].Point, m.trials[1].Point)
	}
	seen := map[space.Point]bool{}
	for _, trial := range m.trials {
		if seen[trial.Point] {
			t.Errorf("%s twice", trial.Point)
		}
		seen[trial.Point] = true
	}
}
