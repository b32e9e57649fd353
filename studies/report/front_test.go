package report

import (
	"bytes"
	"testing"

	"pawl/internal/page"
	"pawl/objective"
	"pawl/search/trial"
	"pawl/space"
)

// A study of two objectives, time and energy, where less of one costs more of the other, has
// its front on both pages: two points, the others behind it.
func TestGoldenFront(t *testing.T) {
	study, past := exampleStudy(t), examplePast(t, 10, 1)
	quantities := []page.Quantity{{Formula: "time", Unit: "ms"}, {Formula: "energy", Unit: "mJ"}}
	study.Environment.Objective = &page.Objective{Quantity: quantities[0], All: quantities, Beside: quantities}
	for i := range past.Trials {
		if trial := &past.Trials[i]; trial.Outcome.Failure == nil {
			addEnergy(&trial.Outcome, trial.Point)
		}
	}
	for i := range past.Rounds {
		addEnergy(&past.Rounds[i].Outcome, past.Rounds[i].Point)
	}
	s, err := Summarise(study, past)
	if err != nil {
		t.Fatal(err)
	}
	// By the times of exampleTime: the quick block with the quick mode takes 2 ms and 200 mJ, the
	// slow block with it 3.2 ms and 100 mJ; two blocks are as good, and unrolling costs 1 mJ.
	var points []string
	for _, p := range s.Front {
		points = append(points, p.Point.String())
	}
	if want := []string{`BLOCK=64,MODE="a|b $x",UNROLL=1`, `BLOCK=16,MODE="a|b $x",UNROLL=1`,
		`BLOCK=32,MODE="a|b $x",UNROLL=1`}; len(points) != 3 || points[0] != want[0] || points[1] != want[1] ||
		points[2] != want[2] {
		t.Errorf("the front is %q", points)
	}
	for name, render := range map[string]func(*bytes.Buffer) error{
		"front.md":   func(w *bytes.Buffer) error { return Markdown(w, &s) },
		"front.html": func(w *bytes.Buffer) error { return HTML(w, &s) },
	} {
		var got bytes.Buffer
		if err := render(&got); err != nil {
			t.Fatal(err)
		}
		golden(t, name, got.Bytes())
	}
	if got := front([]trial.Trial{}, study.Environment.Objective); got != nil {
		t.Errorf("a front of nothing: %v", got)
	}
}

// addEnergy makes up what a point takes: 100 mJ, a hundred more for the quick blocks, and one for
// unrolling.
func addEnergy(o *objective.Outcome, p space.Point) {
	energy := 100.0
	if v, _ := p.Get("BLOCK"); v.Integer() == 64 {
		energy += 100
	}
	if v, _ := p.Get("UNROLL"); v.Integer() == 2 {
		energy++
	}
	ms := exampleTime(p)
	o.Scores = []float64{ms, energy}
	o.Measured = map[string]float64{"time": ms, "energy": energy}
}

// Objectives of which more is better are stored the other way round, and written as they are.
func TestFrontWritesWhatWasMeasured(t *testing.T) {
	s := &Summary{}
	s.Study.Environment.Objective = &page.Objective{All: []page.Quantity{
		{Formula: "rate", Unit: "GB/s", Maximize: true},
		{Formula: "time", Unit: "ms"},
	}}
	if cells := s.FrontCells(FrontPoint{Scores: []float64{0.25, 2}}); cells[0] != "4 GB/s" || cells[1] != "2 ms" {
		t.Errorf("%q", cells)
	}
}
