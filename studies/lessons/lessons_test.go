package lessons

import (
	"fmt"
	"strings"
	"testing"

	"pawl/objective"
	"pawl/objective/explain"
	"pawl/search"
	"pawl/space"
	"pawl/studies"
)

func point(t *testing.T, text string) space.Point {
	t.Helper()
	p, err := space.ParsePoint(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// past is a study of a made-up kernel: A=2 halves the time; B=2 saves a tenth, but doubles it
// together with C=2; D=1 does nothing; E=9 always fails.
func past(t *testing.T, id int64, device string) Past {
	t.Helper()
	p := Past{Study: studies.Study{ID: id, Kernel: "k", Workload: "w", Backend: "cuda", Environment: objective.Environment{Device: device}, Dead: []string{"D"}}}
	for _, name := range []string{"A", "B", "C", "D", "E"} {
		values := []string{"1", "2"}
		if name == "E" {
			values = []string{"1", "9", "12"}
		}
		p.Study.Space.Params = append(p.Study.Space.Params, studies.ParamFacts{Name: name, Values: values, Default: "1"})
	}
	number := 0
	add := func(a, b, c, d, e int) {
		trial := search.Trial{Number: number, Point: point(t, fmt.Sprintf("A=%d,B=%d,C=%d,D=%d,E=%d", a, b, c, d, e)), Finished: true}
		number++
		ms := 4.0
		if a == 2 {
			ms /= 2
		}
		if b == 2 {
			ms *= 0.9
		}
		if b == 2 && c == 2 {
			ms *= 2
		}
		if e == 9 {
			trial.Outcome.Failure = &objective.Failure{Stage: objective.Fuzz, Reason: "wrong result"}
		} else {
			trial.Outcome.Samples = []float64{ms}
			trial.Outcome.Resources = &objective.Resources{SpillStores: 100 * a}
		}
		p.Trials = append(p.Trials, trial)
	}
	for _, a := range []int{1, 2} {
		for _, b := range []int{1, 2} {
			for _, c := range []int{1, 2} {
				if a == 2 && b == 2 && c == 1 {
					continue // the best of all, which nobody has tried
				}
				add(a, b, c, 1, 1)
				add(a, b, c, 1, 9)
			}
		}
	}
	p.Trials = append(p.Trials, search.Trial{Number: 99, Point: point(t, "A=1,B=1,C=1,D=2,E=1")}) // abandoned
	return p
}

func TestLearn(t *testing.T) {
	lessons := Learn([]Past{past(t, 2, "H200"), past(t, 1, "H200"), past(t, 3, "other")})
	if len(lessons) != 2 || lessons[0].Device != "H200" || len(lessons[0].Studies) != 2 {
		t.Fatalf("%+v", lessons)
	}
	l := lessons[0]
	if l.Best.String() != "A=2,B=1,C=1,D=1,E=1" || l.Milliseconds != 2 {
		t.Errorf("best %s, %v ms", l.Best, l.Milliseconds)
	}
	// 3 pairs of A in each study: B=1,C=1; B=1,C=2; B=2,C=2.
	if m := l.Moves[0]; m != (Move{"A", "1", "2", 6, 6, 2}) || m.Text() != "A 1 → 2: faster in 6 of 6 pairs, 2 times in the middle" {
		t.Errorf("%+v: %s", m, m.Text())
	}
	for _, m := range l.Moves {
		if m.Param == "D" || m.Param == "C" && m.Better == m.Pairs {
			t.Errorf("%+v is no lesson", m)
		}
	}
	// B=2 and C=2 together: 1.8 instead of 0.9, in one square (A=1) of each study.
	if len(l.Interactions) == 0 || l.Interactions[0].Params != [2]string{"B", "C"} || l.Interactions[0].Squares != 2 || l.Interactions[0].Size < 1.99 || l.Interactions[0].Size > 2.01 {
		t.Errorf("%+v", l.Interactions)
	}
	if len(l.Failures) != 1 || l.Failures[0].With != "E=9" || l.Failures[0].Failed != 14 || l.Failures[0].Tried != 14 {
		t.Errorf("%+v", l.Failures)
	}
	if strings.Join(l.Untried, " ") != "E: 12" {
		t.Errorf("%v", l.Untried)
	}
	text := strings.Join(l.Next, "\n")
	for _, want := range []string{"values that nobody has tried: E: 12", "no E=9: all 14 trials failed (wrong result)", "without [D]"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if Learn(nil) != nil {
		t.Error("lessons from nothing")
	}
}

// A figure of the compiler moves with a parameter, and advice can name it.
func TestSupport(t *testing.T) {
	advice := []explain.Advice{{Rule: explain.Rule{Name: "spills"}}, {Rule: explain.Rule{Name: "memory-bound"}}, {Rule: explain.Rule{Name: "tail"}}}
	Support([]Past{past(t, 1, "H200")}, advice)
	if got := strings.Join(advice[0].Evidence, ";"); got != "A 2 → 1 lowered spills in 3 of 3 pairs of the study's trials" {
		t.Errorf("%v", got)
	}
	if advice[1].Evidence != nil || advice[2].Evidence != nil {
		t.Errorf("%v, %v", advice[1].Evidence, advice[2].Evidence)
	}
}
