package search_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"pawl/objective"
	"pawl/search"
	"pawl/search/confirm"
	"pawl/search/replay"
	"pawl/search/trial"
	"pawl/space"
)

// moody is a machine that takes another time today than it took yesterday.
type moody struct {
	*replay.Evaluator
	factor  float64
	sampled map[space.Point]int
	// stop is closed after so many samples; 0 for never.
	after int
	stop  chan struct{}
}

func newMoody(s *replay.Space, factor float64) *moody {
	return &moody{
		Evaluator: replay.NewEvaluator(s, 1),
		factor:    factor,
		sampled:   map[space.Point]int{},
		stop:      make(chan struct{}),
	}
}

func (m *moody) slowed(o objective.Outcome, err error) (objective.Outcome, error) {
	o.Samples = slices.Clone(o.Samples)
	for i := range o.Samples {
		o.Samples[i] *= m.factor
	}
	return o, err
}

func (m *moody) Measure(ctx context.Context, p objective.Prepared, incumbent float64) (objective.Outcome, error) {
	return m.slowed(m.Evaluator.Measure(ctx, p, incumbent))
}

func (m *moody) Sample(ctx context.Context, p objective.Prepared, samples int) (objective.Outcome, error) {
	m.sampled[p.Point]++
	if m.after--; m.after == 0 {
		close(m.stop)
	}
	return m.slowed(m.Evaluator.Sample(ctx, p, samples))
}

// A study of eight trials is resumed with all 240 on a day when the machine takes
// 60 % longer. All finalists and the default are measured anew: compared with
// yesterday's rounds a point of yesterday would win, whatever was found since.
func TestMoreTrialsAreConfirmedAnew(t *testing.T) {
	s := recordedSpace(t)
	options := search.Options{Sampler: "random", Seed: 5, Goals: trial.Goals{Trials: 8, Rounds: 4}}
	yesterday := &memory{}
	if _, err := search.Run(t.Context(), s.Pool(), newMoody(s, 1), yesterday, trial.Past{}, options); err != nil {
		t.Fatal(err)
	}
	options.Trials = 240
	today, machine := &memory{trials: slices.Clone(yesterday.trials)}, newMoody(s, 1.6)
	past := trial.Past{Trials: yesterday.trials, Rounds: yesterday.rounds}
	result, err := search.Run(t.Context(), s.Pool(), machine, today, past, options)
	if err != nil {
		t.Fatal(err)
	}
	if machine.sampled[s.Pool().Space().Default()] < options.Rounds {
		t.Error("the default was not measured again")
	}
	before, now := pointsOf(yesterday.rounds, trial.Confirmation), pointsOf(today.rounds, trial.Confirmation)
	if maps.Equal(before, now) {
		t.Fatal("the finalists are the same: there is nothing to test")
	}
	contenders := confirm.Contenders(result.Rounds, trial.Confirmation)
	if left := confirm.LeftBehind(result.Rounds, trial.Confirmation); len(contenders)+len(left) != len(now) {
		t.Errorf("%d contenders and %d left behind, and %d were measured today", len(contenders), len(left), len(now))
	}
	for _, c := range contenders {
		if !now[c.Point] || len(c.Rounds) != options.Rounds {
			t.Errorf("%s with %d rounds", c.Point, len(c.Rounds))
		}
	}
	// DEAD changes nothing.
	if winner, _ := confirm.Winner(result.Rounds); winner.Without("DEAD") != s.Optimum().Point.Without("DEAD") {
		t.Errorf("the winner is %s, the best is %s", winner, s.Optimum().Point)
	}
	for _, c := range confirm.Contenders(result.Rounds, trial.Ablation) {
		if machine.sampled[c.Point] == 0 {
			t.Errorf("the ablation's %s is of yesterday", c.Point)
		}
	}
}

// What was confirmed in full is not measured again, and what was only begun is
// measured from the start, in one run.
func TestAConfirmationBelongsToOneRun(t *testing.T) {
	s := recordedSpace(t)
	options := search.Options{Sampler: "random", Seed: 5, Goals: trial.Goals{Trials: 20, Rounds: 4}}
	for _, test := range []struct {
		name   string
		stop   int // after so many samples; 0 for never
		rounds int // of the resumed run
		again  bool
	}{
		{"complete", 0, 4, false},
		{"stopped in the second round", 9, 4, true},
		{"stopped in the ablation", 4*6 + 3, 4, true},
		{"more rounds wanted", 0, 6, true},
		{"fewer rounds wanted", 0, 3, false},
	} {
		first, machine := &memory{}, newMoody(s, 1)
		machine.after = test.stop
		options.Stop, options.Rounds = machine.stop, 4
		if _, err := search.Run(t.Context(), s.Pool(), machine, first, trial.Past{}, options); err != nil {
			t.Fatal(err)
		}
		second, machine := &memory{trials: slices.Clone(first.trials)}, newMoody(s, 1.6)
		options.Stop, options.Rounds = nil, test.rounds
		result, err := search.Run(t.Context(), s.Pool(), machine, second,
			trial.Past{Trials: first.trials, Rounds: first.rounds}, options)
		if err != nil {
			t.Fatal(err)
		}
		if again := len(machine.sampled) > 0; again != test.again {
			t.Errorf("%s: measured again: %v", test.name, again)
		}
		for _, phase := range []trial.Phase{trial.Confirmation, trial.Ablation} {
			contenders := confirm.Contenders(result.Rounds, phase)
			if len(contenders) < 2 {
				t.Errorf("%s: no %s", test.name, phase)
			}
			for _, c := range contenders {
				if len(c.Rounds) < test.rounds {
					t.Errorf("%s: %d rounds of %s", test.name, len(c.Rounds), phase)
				}
			}
		}
	}
}

// A point that was confirmed and fails a check later is in no report, although its
// rounds are recorded.
func TestRoundsOfADisqualifiedPointDoNotStand(t *testing.T) {
	s := recordedSpace(t)
	m := &memory{}
	if _, err := search.Run(t.Context(), s.Pool(), newMoody(s, 1), m, trial.Past{},
		search.Options{Sampler: "random", Seed: 5, Goals: trial.Goals{Trials: 20, Rounds: 4}}); err != nil {
		t.Fatal(err)
	}
	winner, _ := confirm.Winner(m.rounds)
	at := slices.IndexFunc(m.trials, func(t trial.Trial) bool { return t.Point == winner })
	m.trials[at].Outcome = objective.Outcome{Failure: &objective.Failure{
		Stage:  objective.Fuzz,
		Reason: objective.WrongResult,
	}}
	if next, found := confirm.Winner(trial.Past{Trials: m.trials, Rounds: m.rounds}.Standing()); !found ||
		next == winner {
		t.Errorf("%s still wins", next)
	}
}

// pointsOf returns the points of a phase.
func pointsOf(rounds []trial.Round, phase trial.Phase) map[space.Point]bool {
	points := map[space.Point]bool{}
	for _, r := range rounds {
		if r.Phase == phase {
			points[r.Point] = true
		}
	}
	return points
}
