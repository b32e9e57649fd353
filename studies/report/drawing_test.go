package report

import (
	"fmt"
	"strings"
	"testing"

	"pawl/internal/plot"
	"pawl/internal/stats"
	"pawl/objective"
	"pawl/search/confirm"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// example is a space of two parameters; the time of A=a, B=b is known.
func example(t *testing.T, link func(int) string) *Drawing {
	t.Helper()
	facts := studies.SpaceFacts{Params: []studies.ParamFacts{
		{Name: "A", Values: []string{"1", "2", "4", "untried"}, Default: "1", Ordered: true},
		{Name: "B", Values: []string{"x", "y"}, Default: "x"},
	}}
	var trials []trial.Trial
	for i, c := range []struct {
		point string
		ms    float64
	}{{"A=1,B=x", 8}, {"A=2,B=x", 4}, {"A=4,B=x", 6}, {"A=1,B=y", 7}, {"A=2,B=y", 0}, {"A=4,B=y", 2}} {
		p, err := space.ParsePoint(c.point)
		if err != nil {
			t.Fatal(err)
		}
		trial := trial.Trial{Number: i, Point: p, Finished: true}
		if trial.Outcome.Samples = []float64{c.ms}; c.ms == 0 {
			trial.Outcome = objective.Outcome{Failure: &objective.Failure{Stage: objective.Compile, Reason: "refused"}}
		}
		trials = append(trials, trial)
	}
	return NewDrawing(studies.Study{Space: facts}, trials, link)
}

func wants(t *testing.T, f Figure, parts ...string) {
	t.Helper()
	html := f.Text + string(f.HTML())
	for _, part := range parts {
		if !strings.Contains(html, part) {
			t.Errorf("%s: no %s in\n%s", f.Title, part, html)
		}
	}
}

func TestSearchPictures(t *testing.T) {
	s := example(t, func(trial int) string { return fmt.Sprintf("/t/%d", trial) })
	if len(s.timed) != 5 {
		t.Fatalf("%d trials can be drawn", len(s.timed))
	}
	// The best so far falls at trials 0, 1 and 5.
	wants(t, s.Convergence(), "5 trials from 8 ms to 2 ms; the best is trial 5", `href="/t/5"`, "trial 5: 2 ms, A=4,B=y",
		`r="4" fill="#0072b2"/><title>trial 1: 4 ms`, `r="2.5" fill="#8a939e"/><title>trial 2: 6 ms`)
	parameters := s.Parameters([]string{"A", "B", "C"})
	if len(parameters) != 2 {
		t.Fatalf("%d pictures of 2 parameters", len(parameters))
	}
	wants(t, parameters[0], "1: 7 ms. 2: 4 ms. 4: 2 ms.", "<polyline")
	if strings.Contains(string(parameters[1].HTML()), "<polyline") {
		t.Error("a line through values that have no order")
	}
	wants(t, s.InteractionOf("A", "B"), "Fastest at A=4 and B=y: 2 ms", "trial 3: 7 ms", `href="/t/5"`)
	if s.InteractionOf("A", "B").Width == 0 || s.InteractionOf("A", "A").Width != 0 ||
		s.InteractionOf("A", "Z").Width != 0 {
		t.Error("a pair of the same or of an unknown parameter has a picture, or one of two has none")
	}
	if heat := s.InteractionOf("B", "A"); strings.Contains(string(heat.HTML()), ">untried<") || heat.Height > 160 {
		t.Error("a value that was never tried has a row")
	}
	wants(t, s.Parallel([]string{"B", "A"}), "The fastest is trial 5: 2 ms, A=4,B=y")
	if dots := strings.Count(string(example(t, nil).Convergence().HTML()), "<a "); dots != 0 {
		t.Errorf("%d links to nowhere", dots)
	}
}

func TestFewTrialsHaveNoPicture(t *testing.T) {
	s, v := NewDrawing(studies.Study{}, nil, nil), &View{Summary: &Summary{}}
	for _, f := range []Figure{s.Convergence(), s.Parallel(nil), s.InteractionOf("A", "B"), v.Importance(),
		v.Waterfall(), Whiskers("", "", nil), Parts("", "", "", func(float64) string { return "" }, nil),
		CompareSearches(nil)} {
		if f.Width != 0 || f.HTML() != "" {
			t.Errorf("%q has a picture", f.Title)
		}
	}
}

func TestMeasuredPictures(t *testing.T) {
	v := &View{Summary: &Summary{Importances: []confirm.Importance{{Name: "A", Share: 0.5}, {Name: "B"}}}}
	wants(t, v.Importance(), "A 50 %. B 0 %.")
	wants(t,
		Whiskers("finalists", "",
			[]Measured{
				{Name: "default", Milliseconds: 4, Interval: stats.Interval{Low: 3.9, High: 4.1}},
				{Name: "1", Milliseconds: 2, Interval: stats.Unbounded(), Best: true},
			}),
		"default 4 ms (3.9 ms to 4.1 ms); 1 2 ms (too few runs)")
	change := func(name string, from, to int64) []Change {
		return []Change{{name, space.IntegerValue(from), space.IntegerValue(to)}}
	}
	v.Ablation = []Step{
		{Milliseconds: 4},
		{Changes: change("A", 1, 2), Milliseconds: 2, Speedup: 2, Interval: stats.Interval{Low: 1.9, High: 2.1}},
		{Changes: change("B", 3, 4), Milliseconds: 3, Speedup: 0.67, Interval: stats.Unbounded()},
	}
	wants(t, v.Waterfall(), "default 4 ms", "A 1 → 2 2 ms, 2.00×", plot.Good, plot.Bad)
	wants(t, CompareSearches([]Curve{{"study 1", example(t, nil)}, {"study 2", example(t, nil)}}),
		"study 1: 2 ms after 5 trials", "study 2")
}

func TestManyTrialsAreThinned(t *testing.T) {
	s := &Drawing{place: func() {}, params: []studies.ParamFacts{{Name: "A", Values: []string{"1", "2"}, Ordered: true}}}
	for i := range 10000 {
		s.timed = append(s.timed, timed{trial: &trial.Trial{Number: i}, ms: 1 + float64(i%997)/997, values: []int{i % 2}})
	}
	for _, f := range append(s.Parameters([]string{"A"}), s.Convergence(), s.Parallel([]string{"A"})) {
		if size := len(f.HTML()); size > 200_000 {
			t.Errorf("%s: %d bytes", f.Title, size)
		}
	}
	wants(t, Figure{Title: "caption", Picture: plot.Picture{Text: s.Convergence().Caption}},
		"of 9999 dots lie on others and are not drawn")
}
