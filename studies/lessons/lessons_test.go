package lessons

import (
	"fmt"
	"strings"
	"testing"

	"pawl/objective"
	"pawl/objective/profile"
	"pawl/search/trial"
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
	p := Past{Study: studies.Study{
		ID:          id,
		Kernel:      "k",
		Workload:    "w",
		Backend:     "cuda",
		Environment: objective.Environment{Device: device},
		Conclusion:  trial.Conclusion{Dead: []string{"D"}},
	}}
	for _, name := range []string{"A", "B", "C", "D", "E"} {
		values := []string{"1", "2"}
		if name == "E" {
			values = []string{"1", "9", "12"}
		}
		p.Study.Space.Params = append(p.Study.Space.Params, studies.ParamFacts{Name: name, Values: values, Default: "1"})
	}
	number := 0
	add := func(a, b, c, d, e int) {
		trial := trial.Trial{
			Number:   number,
			Point:    point(t, fmt.Sprintf("A=%d,B=%d,C=%d,D=%d,E=%d", a, b, c, d, e)),
			Finished: true,
		}
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
	p.Trials = append(p.Trials, trial.Trial{Number: 99, Point: point(t, "A=1,B=1,C=1,D=2,E=1")}) // abandoned
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
	if m := l.Moves[0]; m != (Move{"A", "1", "2", 6, 6, 2}) ||
		m.Text() != "A 1 → 2: faster in 6 of 6 pairs, 2 times in the middle" {
		t.Errorf("%+v: %s", m, m.Text())
	}
	for _, m := range l.Moves {
		if m.Param == "D" || m.Param == "C" && m.Better == m.Pairs {
			t.Errorf("%+v is no lesson", m)
		}
	}
	// B=2 and C=2 together: 1.8 instead of 0.9, in one square (A=1) of each study.
	if len(l.Failures) != 1 || l.Failures[0].With != "E=9" || l.Failures[0].Failed != 14 || l.Failures[0].Tried != 14 {
		t.Errorf("%+v", l.Failures)
	}
	if strings.Join(l.Untried, " ") != "E: 12" {
		t.Errorf("%v", l.Untried)
	}
	text := strings.Join(l.Next, "\n")
	for _, want := range []string{"values that nobody has tried: E: 12", "no E=9: all 14 trials failed (wrong result)",
		"without [D]"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if Learn(nil) != nil {
		t.Error("lessons from nothing")
	}
}

// The best is what a confirmation found, though a trial of another study was faster; without any it is a trial's
// time, and says so.
func TestBestIsConfirmed(t *testing.T) {
	searched, confirmed := past(t, 2, "H200"), past(t, 1, "H200")
	if l := Learn([]Past{searched})[0]; l.Confirmed != 0 || l.Milliseconds != 2 {
		t.Errorf("study %d has confirmed %v ms", l.Confirmed, l.Milliseconds)
	}
	for number := range 6 {
		for text, ms := range map[string]float64{"A=1,B=1,C=1,D=1,E=1": 5, "A=2,B=1,C=2,D=1,E=1": 3} {
			confirmed.Rounds = append(confirmed.Rounds, trial.Round{
				Phase: trial.Confirmation, Number: number, Point: point(t, text),
				Outcome: objective.Outcome{Samples: []float64{ms}},
			})
		}
	}
	l := Learn([]Past{searched, confirmed})[0]
	if l.Confirmed != 1 || l.Milliseconds != 3 || l.Best != point(t, "A=2,B=1,C=2,D=1,E=1") {
		t.Errorf("study %d has confirmed %s, %v ms", l.Confirmed, l.Best, l.Milliseconds)
	}
}

// In a space of one parameter no two values have a second pair: the one that there is is the lesson. In a
// larger one it may be noise.
func TestLearnFromOnePair(t *testing.T) {
	p := past(t, 1, "H200")
	p.Trials = p.Trials[:0]
	for i, text := range []string{"PAD=0", "PAD=1"} {
		p.Trials = append(p.Trials,
			trial.Trial{
				Number:   i,
				Point:    point(t, text),
				Finished: true,
				Outcome:  objective.Outcome{Samples: []float64{2.134, 0.08226}[i : i+1]},
			})
	}
	if got := Learn([]Past{p})[0].Moves; len(got) > 0 {
		t.Errorf("of five parameters: %+v", got)
	}
	p.Study.Space.Params = []studies.ParamFacts{{Name: "PAD", Values: []string{"0", "1"}, Default: "0"}}
	got := Learn([]Past{p})[0].Moves
	if len(got) != 1 || got[0].Text() != "PAD 0 → 1: 25.9 times as fast, in the one pair that there is" {
		t.Errorf("%+v", got)
	}
}

// A figure of the compiler moves with a parameter, and advice can name it.
func TestSupport(t *testing.T) {
	advice := []profile.Advice{
		{Rule: profile.Rule{Name: "spills"}},
		{Rule: profile.Rule{Name: "memory-bound"}},
		{Rule: profile.Rule{Name: "tail"}},
	}
	Support([]Past{past(t, 1, "H200")}, advice)
	if got := strings.Join(advice[0].Evidence, ";"); got !=
		"A 2 → 1 lowered spills in 3 of 3 pairs of the study's trials" {
		t.Errorf("%v", got)
	}
	if advice[1].Evidence != nil || advice[2].Evidence != nil {
		t.Errorf("%v, %v", advice[1].Evidence, advice[2].Evidence)
	}
}

// profiled adds what a profiler counted in two launches: A=1 repeats nine tenths of its passes over
// shared memory, which is busy all the time, and A=2 none.
func profiled(t *testing.T, p Past) Past {
	t.Helper()
	for text, passes := range map[string]float64{"A=1,B=1,C=1,D=1,E=1": 1e9, "A=2,B=1,C=1,D=1,E=1": 1e8} {
		p.Profiles = append(p.Profiles, studies.Profile{Point: point(t, text), Metrics: profile.Metrics{
			"memory_l1_wavefronts_shared": {Value: passes}, "memory_l1_wavefronts_shared_ideal": {Value: 1e8},
			"l1tex__throughput.avg.pct_of_peak_sustained_elapsed": {Value: 100},
		}})
	}
	return p
}

// Counters say which parameter moves a loss.
func TestSupportByCounters(t *testing.T) {
	advice := []profile.Advice{{Rule: profile.Rule{Name: "bank conflicts"}}, {Rule: profile.Rule{Name: "memory-bound"}}}
	p := profiled(t, past(t, 1, "H200"))
	Support([]Past{p}, advice)
	if got := strings.Join(advice[0].Evidence,
		";"); got != "A 1 → 2 lowered this loss in 1 of 1 pairs of profiled points" || len(advice[1].Evidence) > 0 {
		t.Errorf("%q, %q", got, advice[1].Evidence)
	}
	// A point without a trial counts too, and of two profiles of a point the last.
	third := p.Profiles[0]
	third.Point = point(t, "A=2,B=1,C=1,D=2,E=1")
	third.Metrics = profile.Metrics{
		"memory_l1_wavefronts_shared":       {Value: 1},
		"memory_l1_wavefronts_shared_ideal": {Value: 1},
	}
	first := third
	first.Point = point(t, "A=1,B=1,C=1,D=2,E=1")
	wrong := third
	wrong.Metrics = profile.Metrics{}
	first.Metrics = profile.Metrics{
		"memory_l1_wavefronts_shared":                         {Value: 2e9},
		"memory_l1_wavefronts_shared_ideal":                   {Value: 1e9},
		"l1tex__throughput.avg.pct_of_peak_sustained_elapsed": {Value: 100},
	}
	p.Profiles = append(p.Profiles, wrong, first, third)
	Support([]Past{p}, advice)
	if got := strings.Join(advice[0].Evidence,
		";"); !strings.Contains(got, "A 1 → 2 lowered this loss in 2 of 2 pairs of profiled points") {
		t.Errorf("%q", got)
	}
}

// What the default's advice brought: the fastest trial that loses less to it.
func TestFollowed(t *testing.T) {
	p := profiled(t, past(t, 1, "H200"))
	l := Learn([]Past{past(t, 2, "H200"), p})[0] // the newer study has no profiles
	if len(l.Followed) != 2 ||
		l.Followed[0].Text() !=
			"bank conflicts: 90 % of the time at the default, gone at A=2,B=1,C=1,D=1,E=1, which is 2 times as fast" {
		t.Errorf("%+v", l.Followed)
	}
	// Without a profiler, by what the compiler says: every trial spills, and nobody knows how much that costs.
	l = Learn([]Past{past(t, 1, "H200")})[0]
	if len(l.Followed) != 1 || l.Followed[0].Text() != "spills at the default, and no trial has less" ||
		!strings.Contains(strings.Join(l.Next, "\n"), "against spills, which no trial has lowered: Fewer values alive") {
		t.Errorf("%+v, %q", l.Followed, l.Next)
	}
	slower := Followed{Advice: "tail", Lost: new(float64), At: &l.Best, Left: 0.2, Speedup: 0.5}
	if *slower.Lost = 0.5; slower.Text() !=
		"tail: 50 % of the time at the default, 20 % at A=2,B=1,C=1,D=1,E=1, which is 2 times as slow" {
		t.Error(slower.Text())
	}
	if got := followed(nil); got != nil {
		t.Errorf("%+v", got)
	}
}
