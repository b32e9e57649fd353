package search_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl/objective"
	"pawl/search"
	"pawl/search/confirm"
	"pawl/search/replay"
	"pawl/search/sampler"
	"pawl/search/trial"
	"pawl/space"
)

// A point that compiles to something else when it is checked in full must not
// be suggested on the strength of what was measured before.
func TestAnotherBinaryThanTheMeasuredOneIsAnError(t *testing.T) {
	s := recordedSpace(t)
	var mu sync.Mutex
	prepared := map[space.Point]int{}
	swapped := &faulty{Evaluator: replay.NewEvaluator(s, 1), digest: func(p space.Point) string {
		mu.Lock()
		defer mu.Unlock()
		prepared[p]++
		if p == s.Optimum().Point && prepared[p] > 1 {
			return "something else"
		}
		return p.String()
	}}
	result, err := search.Run(t.Context(), s.Pool(), swapped, &memory{}, trial.Past{},
		search.Options{Sampler: "grid", Goals: trial.Goals{Trials: 240, Rounds: 3}})
	if err == nil || !strings.Contains(err.Error(), "is not what was measured before") {
		t.Errorf("got %v", err)
	}
	if len(result.Rounds) > 0 {
		t.Errorf("%d rounds were measured all the same", len(result.Rounds))
	}
}

// The fastest point passes the quick check and fails the full one: it must not
// win, and it must not appear in any round.
func TestFinalistThatFailsTheFullCheckIsDisqualified(t *testing.T) {
	s := recordedSpace(t)
	fastest := s.Optimum().Point
	strict := &faulty{Evaluator: replay.NewEvaluator(s, 1), verify: func(p space.Point) *objective.Failure {
		if p == fastest {
			return &objective.Failure{Stage: objective.Fuzz, Reason: objective.WrongResult}
		}
		return nil
	}}
	m := &memory{}
	result, err := search.Run(t.Context(), s.Pool(), strict, m, trial.Past{},
		search.Options{Sampler: "grid", Goals: trial.Goals{Trials: 240, Rounds: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.disqualified) != 1 {
		t.Errorf("disqualified: %v", m.disqualified)
	}
	if contenders := contended(result); contenders != 6 {
		t.Errorf("%d contenders, want the default and five finalists", contenders)
	}
	for _, r := range result.Rounds {
		if r.Point == fastest {
			t.Fatal("a wrong point was measured again")
		}
	}
	if trial.Ranking(result.Trials)[0].Point == fastest {
		t.Error("a wrong point leads the ranking")
	}
}

// A point that passes every check and is wrong in a round has failed, and so has its twin. A search that is resumed
// measures neither again. Where the default is wrong, nothing is measured.
func TestFinalistThatIsWrongInARoundIsDisqualified(t *testing.T) {
	s := recordedSpace(t)
	grid := trial.Goals{Trials: 240, Rounds: 3}
	plain, err := search.Run(t.Context(), s.Pool(), replay.NewEvaluator(s, 1), &memory{}, trial.Past{},
		search.Options{Sampler: "grid", Goals: grid})
	if err != nil {
		t.Fatal(err)
	}
	ranked := trial.Ranking(plain.Trials)
	fastest, twin, initial := ranked[0].Point, ranked[len(ranked)-1].Point, s.Space().Default()
	bad, wrong := fastest, &objective.Failure{Stage: objective.Bench, Reason: "wrong while it was timed"}
	rare := &faulty{Evaluator: replay.NewEvaluator(s, 1), digest: func(p space.Point) string {
		if p == twin {
			return fastest.String()
		}
		return p.String()
	}, sample: func(p space.Point) *objective.Failure {
		if p == bad {
			return wrong
		}
		return nil
	}}
	m := &memory{}
	result, err := search.Run(t.Context(), s.Pool(), rare, m, trial.Past{}, search.Options{Sampler: "grid", Goals: grid})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.disqualified) != 2 {
		t.Errorf("disqualified: %v", m.disqualified)
	}
	for _, one := range result.Trials {
		if (one.Point == fastest || one.Point == twin) && one.Outcome.Failure != wrong {
			t.Errorf("%s: %v", one.Point, one.Outcome.Failure)
		}
	}
	if winner, found := confirm.Winner(result.Standing()); !found || winner == fastest {
		t.Errorf("%s wins", winner)
	}
	grid.Rounds = 5
	again, err := search.Run(t.Context(), s.Pool(), rare, m, result, search.Options{Sampler: "grid", Goals: grid})
	if err != nil {
		t.Fatal(err)
	}
	first, contenders := confirm.Contenders(result.Rounds, trial.Confirmation), contended(again)
	for _, c := range confirm.Contenders(again.Rounds, trial.Confirmation) {
		if len(c.Rounds) != 5 || contenders < len(first) {
			t.Errorf("%s: %d rounds, %d contenders", c.Point, len(c.Rounds), contenders)
		}
	}
	bad = initial
	result, err = search.Run(t.Context(), s.Pool(), rare, &memory{}, trial.Past{},
		search.Options{Sampler: "grid", Goals: grid})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(result.Rounds); n > 6 {
		t.Errorf("%d rounds were measured without a default", n)
	}
}

// A point with the machine code of one that was disqualified is as wrong, also where
// it only explains: the way from the default to the winner leaves it out.
func TestTwinOfADisqualifiedPointExplainsNothing(t *testing.T) {
	s := recordedSpace(t)
	honest := replay.NewEvaluator(s, 1)
	plain, err := search.Run(t.Context(), s.Pool(), &faulty{Evaluator: honest, digest: space.Point.String}, &memory{},
		trial.Past{}, search.Options{Sampler: "random", Seed: 5, Goals: trial.Goals{Trials: 40, Rounds: 3}})
	if err != nil {
		t.Fatal(err)
	}
	path := confirm.Contenders(plain.Rounds, trial.Ablation)
	between := path[slices.IndexFunc(path, func(c confirm.Contender) bool { return !tried(plain, c.Point) })].Point
	best := trial.Ranking(plain.Trials)[0].Point
	twins := &faulty{Evaluator: honest, digest: func(p space.Point) string {
		if p == best {
			return between.String()
		}
		return p.String()
	}, verify: func(p space.Point) *objective.Failure {
		if p == best {
			return &objective.Failure{Stage: objective.Fuzz, Reason: objective.WrongResult}
		}
		return nil
	}}
	result, err := search.Run(t.Context(), s.Pool(), twins, &memory{}, trial.Past{},
		search.Options{Sampler: "random", Seed: 5, Goals: trial.Goals{Trials: 40, Rounds: 3}})
	if err != nil {
		t.Fatal(err)
	}
	winner, _ := confirm.Winner(result.Rounds)
	if !slices.Contains(confirm.AblationPoints(s.Pool(), sampler.TimedOf(result.Trials), winner), between) {
		t.Fatal("the winner's way does not lead there: there is nothing to test")
	}
	for _, c := range confirm.Contenders(result.Rounds, trial.Ablation) {
		if c.Point == between {
			t.Errorf("%s was measured, whose machine code is wrong", between)
		}
	}
}

// contended is the number of contenders, those that were left behind among them.
func contended(r trial.Past) int {
	return len(confirm.Contenders(r.Rounds, trial.Confirmation)) + len(confirm.LeftBehind(r.Rounds, trial.Confirmation))
}

func tried(r trial.Past, point space.Point) bool {
	return slices.ContainsFunc(r.Trials, func(t trial.Trial) bool { return t.Point == point })
}

func TestIdenticalMachineCodeIsMeasuredOnce(t *testing.T) {
	s := recordedSpace(t)
	measured := map[string]int{}
	counting := &counter{faulty: faulty{Evaluator: replay.NewEvaluator(s, 1), digest: func(p space.Point) string {
		// DEAD never changes the code.
		text := p.String()
		return text[strings.Index(text, "M="):]
	}}, measured: measured}
	m := &memory{}
	if _, err := search.Run(t.Context(), s.Pool(), counting, m, trial.Past{},
		search.Options{Sampler: "grid", Goals: trial.Goals{Trials: 240, Rounds: 3}}); err != nil {
		t.Fatal(err)
	}
	for digest, n := range measured {
		if n != 1 {
			t.Errorf("%s measured %d times", digest, n)
		}
	}
	same := 0
	for _, trial := range m.trials {
		if trial.Outcome.SameAs != "" {
			same++
		}
	}
	if same != 160 {
		t.Errorf("%d trials took over another's samples, want 160: two of every three", same)
	}
}

type counter struct {
	faulty
	measured map[string]int
	wrong    func(space.Point) bool // fails the check of every trial; nil for none
}

func (c *counter) Measure(ctx context.Context, p objective.Prepared, incumbent float64) (objective.Outcome, error) {
	c.measured[p.Binary.Digest]++
	if c.wrong != nil && c.wrong(p.Point) {
		return objective.Outcome{
			Failure: &objective.Failure{Stage: objective.Fuzz, Reason: objective.WrongResult},
			Binary:  p.Binary.Digest,
		}, nil
	}
	return c.faulty.Measure(ctx, p, incumbent)
}

func TestAblationWalksFromTheDefaultToTheWinner(t *testing.T) {
	s := recordedSpace(t)
	_, result := runStudy(t, s, trial.Past{},
		search.Options{Sampler: "grid", Goals: trial.Goals{Trials: 240, Rounds: 3}})
	winner, _ := confirm.Winner(result.Rounds)
	points := confirm.AblationPoints(s.Pool(), sampler.TimedOf(result.Trials), winner)
	if points[0] != s.Space().Default() || points[len(points)-1] != winner {
		t.Fatalf("from %s to %s", points[0], points[len(points)-1])
	}
	for i := 1; i < len(points); i++ {
		if n := differences(points[i-1], points[i]); n != 1 {
			t.Errorf("step %d changes %d parameters", i, n)
		}
	}
	if got := confirm.Contenders(result.Rounds, trial.Ablation); len(got) != len(points) {
		t.Errorf("%d points of the ablation measured, want %d", len(got), len(points))
	}
}

// The full check is for what may be suggested. A point between the default and the
// winner is checked as a trial is, once, and left out where it is wrong.
func TestAblationChecksAsTrialsDo(t *testing.T) {
	s := recordedSpace(t)
	verified := map[space.Point]bool{}
	measured := map[string]int{}
	run := func(wrong func(space.Point) bool) trial.Past {
		clear(verified)
		clear(measured)
		watched := &counter{
			faulty: faulty{
				Evaluator: replay.NewEvaluator(s, 1),
				digest:    space.Point.String,
				verify: func(p space.Point) *objective.Failure {
					verified[p] = true
					return nil
				},
			},
			measured: measured,
			wrong:    wrong,
		}
		result, err := search.Run(t.Context(), s.Pool(), watched, &memory{}, trial.Past{},
			search.Options{Sampler: "random", Seed: 3, Goals: trial.Goals{Trials: 40, Rounds: 3}})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	result := run(nil)
	if contenders := contended(result); len(verified) != contenders {
		t.Errorf("%d points checked in full, want the %d contenders", len(verified), contenders)
	}
	path := confirm.Contenders(result.Rounds, trial.Ablation)
	untried := slices.IndexFunc(path, func(c confirm.Contender) bool { return !tried(result, c.Point) })
	if untried < 0 {
		t.Fatal("every point of the way was a trial: there is nothing to test")
	}
	between := path[untried].Point
	if n := measured[between.String()]; n != 1 {
		t.Errorf("%s was checked %d times", between, n)
	}
	again := confirm.Contenders(run(func(p space.Point) bool { return p == between }).Rounds, trial.Ablation)
	if len(again) != len(path)-1 ||
		slices.ContainsFunc(again, func(c confirm.Contender) bool { return c.Point == between }) {
		t.Errorf("a wrong point stayed on the way: %d points, %d before", len(again), len(path))
	}
}

// When the time is over nothing more is measured.
func TestNothingIsMeasuredWhenTheTimeIsOver(t *testing.T) {
	s := recordedSpace(t)
	_, first := runStudy(t, s, trial.Past{},
		search.Options{Sampler: "random", Seed: 3, Goals: trial.Goals{Trials: 40, Rounds: 3}})
	past := trial.Past{Trials: first.Trials, Conclusion: trial.Conclusion{Elapsed: time.Hour}}
	for budget, measured := range map[time.Duration]bool{time.Minute: false, 2 * time.Hour: true} {
		result, err := search.Run(t.Context(), s.Pool(), replay.NewEvaluator(s, 1),
			&memory{trials: slices.Clone(first.Trials)}, past,
			search.Options{Sampler: "random", Seed: 3, Goals: trial.Goals{Trials: 40, Budget: budget, Rounds: 3}})
		if err != nil {
			t.Fatal(err)
		}
		for _, phase := range []trial.Phase{trial.Confirmation, trial.Ablation} {
			if got := len(confirm.Contenders(result.Rounds, phase)) > 0; got != measured {
				t.Errorf("%v: the %s was measured: %v", budget, phase, got)
			}
		}
	}
}

func differences(a, b space.Point) int {
	n := 0
	for _, x := range a.Assignments() {
		if y, _ := b.Get(x.Name); x.Value != y {
			n++
		}
	}
	return n
}

func TestImportanceFindsTheDeadParameter(t *testing.T) {
	s := recordedSpace(t)
	_, result := runStudy(t, s, trial.Past{},
		search.Options{Sampler: "grid", Goals: trial.Goals{Trials: 240, Rounds: 3}})
	importances := confirm.Importances(s.Space(), sampler.TimedOf(result.Trials))
	last := importances[len(importances)-1]
	if last.Name != "DEAD" || last.Share > 0.01 {
		t.Errorf("least important: %+v", last)
	}
	if importances[0].Share < 0.1 {
		t.Errorf("most important: %+v", importances[0])
	}
}
