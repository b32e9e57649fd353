package confirm

import (
	"context"
	"slices"
	"testing"

	"pawl/objective"
	"pawl/search/trial"
	"pawl/space"
)

// fitted are points whose times on other kinds of data are so many times those on the declared.
type fitted struct {
	*bench
	factors map[string]map[string]float64 // by point and kind
	asked   []int                         // kinds of each call
}

func (f *fitted) Sample(ctx context.Context, p objective.Prepared, samples int) (objective.Outcome, error) {
	outcome, err := f.bench.Sample(ctx, p, samples)
	f.asked = append(f.asked, len(p.Kinds))
	for _, kind := range p.Kinds {
		factor := 1.
		if of := f.factors[p.Point.String()]; of[kind] > 0 {
			factor = of[kind]
		}
		outcome.Kinds = append(outcome.Kinds, objective.KindSamples{Kind: kind,
			Samples: slices.Repeat([]float64{factor * outcome.Samples[0]}, p.KindSamples)})
	}
	return outcome, err
}

var dataKinds = []string{"scaled", "growing", "channels"}

// What is slower than the default on one kind of data does not win, however fast it is on the declared; what is slower
// than itself there, and still faster than the default, does.
func TestWhoIsSlowerOnOtherDataIsCaught(t *testing.T) {
	f := &fitted{
		bench: &bench{noise: 0.01, times: map[string]float64{
			"A=1": 3, "A=2": 1, "A=3": 2, "A=4": 2.2, "A=5": 2.4, "A=6": 2.6,
		}},
		factors: map[string]map[string]float64{
			"A=2": {"channels": 4}, // 4 instead of 3
			"A=3": {"scaled": 1.3}, // 2.6
		},
	}
	rounds := confirmedOn(t, f, 10, dataKinds)
	winner, found := Winner(rounds)
	if !found || winner.String() != "A=3" {
		t.Fatalf("the winner is %s, %v", winner, found)
	}
	caught := CaughtBy(rounds)
	if len(caught) != 1 || caught[0].Point.String() != "A=2" ||
		caught[0].Outcome.Failure.Detail != "takes 1.33 times as long as the default on channels data" {
		t.Errorf("caught: %+v", caught)
	}
	initial, _ := space.ParsePoint("A=1")
	for _, r := range OnKinds(rounds, initial, winner, 0.95) {
		want := 1.5
		if r.Kind == "scaled" {
			want = 3 / 2.6
		}
		if r.Speedup < 0.97*want || r.Speedup > 1.03*want || !r.Interval.Contains(r.Speedup) || r.Slower() || r.Rounds < 3 {
			t.Errorf("%+v, want %.3f", r, want)
		}
	}
	// All kinds twice, then one in turn, so that most of the time is the declared data's.
	if f.asked[0] != 3 || f.asked[len(f.asked)-1] != 1 {
		t.Errorf("kinds in the calls: %v", f.asked)
	}
}

// Where the noise explains a difference nobody is caught.
func TestNobodyIsCaughtByNoise(t *testing.T) {
	f := &fitted{bench: &bench{noise: 0.1, times: map[string]float64{"A=1": 1, "A=2": 1, "A=3": 1, "A=4": 1, "A=5": 1,
		"A=6": 1}}}
	if caught := CaughtBy(confirmedOn(t, f, 10, dataKinds)); len(caught) > 0 {
		t.Errorf("caught: %+v", caught)
	}
}

// Points are passed over that have what all who were caught share, and no one who was measured on all kinds.
func TestOthersFollowWhoAreCaught(t *testing.T) {
	points := func(texts ...string) (found []space.Point) {
		for _, text := range texts {
			p, err := space.ParsePoint(text)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, p)
		}
		return found
	}
	no, yes := space.BooleanValue(false), space.BooleanValue(true)
	one, two := space.IntegerValue(1), space.IntegerValue(2)
	s, err := space.New([]space.Param{{Name: "A", Values: []space.Value{one, two}, Default: one},
		{Name: "TRUST", Values: []space.Value{no, yes}, Default: no}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := s.Pool(space.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := points("A=2,TRUST=true", "A=2,TRUST=false", "A=1,TRUST=true")
	clear := objective.Outcome{Samples: []float64{1},
		Kinds: []objective.KindSamples{{Kind: "scaled", Samples: []float64{1}}}}
	caught := objective.Outcome{Failure: &objective.Failure{Reason: Caught}}
	study := &finalists{pool: pool}
	study.rounds = []trial.Round{{Phase: trial.Confirmation, Point: all[0], Outcome: clear},
		{Phase: trial.Confirmation, Point: all[1], Outcome: clear},
		{Phase: trial.Confirmation, Number: 1, Point: all[0], Outcome: caught}}
	c := &confirmation{Study: study, search: study, options: Options{Kinds: []string{"scaled"}}}
	if passed := c.passOver(); passed(all[0]) || passed(all[2]) {
		t.Error("a run that is resumed has other contenders")
	}
	c.goesOn = true
	if passed := c.passOver(); !passed(all[0]) || passed(all[1]) || !passed(all[2]) {
		t.Errorf("passed over: %v %v %v", passed(all[0]), passed(all[1]), passed(all[2]))
	}
}
