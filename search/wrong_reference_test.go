package search_test

import (
	"context"
	"fmt"
	"testing"

	"pawl/objective"
	"pawl/search"
	"pawl/search/replay"
	"pawl/search/trial"
	"pawl/space"
)

// wrongEvaluator gives wrong results at the points that a test chooses.
type wrongEvaluator struct {
	*faulty
	wrong func(asked int, p space.Point) bool
	asked int
}

func (w *wrongEvaluator) Measure(ctx context.Context, p objective.Prepared,
	incumbent float64) (objective.Outcome, error) {
	w.asked++
	if w.wrong(w.asked-1, p.Point) {
		p.Failure = &objective.Failure{
			Stage:  objective.Fuzz,
			Reason: objective.WrongResult,
			Detail: "y[0] is 1, the reference says 2",
		}
	}
	return w.faulty.Measure(ctx, p, incumbent)
}

// Where nothing agrees with the reference, it is the suspect after a few trials.
func TestWrongReferenceEndsTheSearchSoon(t *testing.T) {
	s := recordedSpace(t)
	for _, test := range []struct {
		name  string
		wrong func(asked int, p space.Point) bool
		ended trial.Ending
		most  int
	}{
		{"all wrong", func(int, space.Point) bool { return true }, trial.AllWrong, 4},
		{"the default is right", func(asked int, _ space.Point) bool { return asked > 0 }, trial.TrialsDone, 30},
		{"the third is right", func(asked int, _ space.Point) bool { return asked != 2 }, trial.TrialsDone, 30},
		{"only the default is wrong", func(asked int, _ space.Point) bool { return asked == 0 }, trial.TrialsDone, 30},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := &memory{}
			evaluator := &wrongEvaluator{faulty: &faulty{Evaluator: replay.NewEvaluator(s, 1)}, wrong: test.wrong}
			result, err := search.Run(t.Context(), s.Pool(), evaluator, m, trial.Past{},
				search.Options{Sampler: "random", Seed: 3, Goals: trial.Goals{Trials: 30}})
			if err != nil || result.Ended != test.ended {
				t.Fatalf("ended because %s: %v", result.Ended, err)
			}
			finished := 0
			for _, trial := range m.trials {
				if trial.Finished {
					finished++
				}
			}
			if finished != test.most {
				t.Errorf("%d trials finished, want %d", finished, test.most)
			}
			// A resumed study comes to the same end without another trial.
			resumed, err := search.Run(t.Context(), s.Pool(), evaluator, &memory{trials: m.trials},
				trial.Past{Trials: m.trials}, search.Options{Sampler: "random", Seed: 3, Goals: trial.Goals{Trials: 30}})
			if err != nil || resumed.Ended != test.ended {
				t.Errorf("resumed, it ended because %s: %v", resumed.Ended, err)
			}
		})
	}
}

func TestReferenceSuspected(t *testing.T) {
	trials := func(reasons ...string) []trial.Trial {
		var all []trial.Trial
		for i, reason := range reasons {
			trial := trial.Trial{Number: i, Finished: true, Outcome: objective.Outcome{Binary: fmt.Sprint(i)}}
			if reason != "" {
				trial.Outcome.Failure = &objective.Failure{Stage: objective.Fuzz, Reason: reason}
			}
			all = append(all, trial)
		}
		return all
	}
	w, crash := objective.WrongResult, "crashed"
	same := trials(w, w, w, w, w)
	for i := range same {
		same[i].Outcome.Binary = "one"
	}
	running := trials(w, w, w, w)
	running[3].Finished, running[3].Outcome = false, objective.Outcome{}
	for _, test := range []struct {
		name       string
		trials     []trial.Trial
		soon, ever bool
	}{
		{"none", nil, false, false},
		{"four", trials(w, w, w, w), true, true},
		{"others in between", trials(w, crash, w, objective.CompileError, w, w), true, true},
		{"three", trials(w, w, w), false, true},
		{"one", trials(w), false, false},
		{"another reason first", trials(crash, w, w, w, w), false, false},
		{"one is right", trials(w, w, w, w, ""), false, false},
		{"all the same machine code", same, false, false},
		{"one is running", running, false, true},
	} {
		if soon, ever := search.ReferenceSuspected(test.trials, false),
			search.ReferenceSuspected(test.trials, true); soon != test.soon || ever != test.ever {
			t.Errorf("%s: %t and %t, want %t and %t", test.name, soon, ever, test.soon, test.ever)
		}
	}
}
