package report

import (
	"fmt"
	"maps"
	"slices"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/plot"
	"pawl/internal/stats"
	"pawl/kernels"
	"pawl/objective"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// What points are compared by is the time unless the manifest names an objective. Everything
// that is computed from samples is the same then; what is written differs, and is here.

// Written writes a number that points are compared by.
func (s *Summary) Written(compared float64) string {
	return s.Study.Environment.Objective.Text(compared)
}

// WrittenInterval writes an interval of such numbers.
func (s *Summary) WrittenInterval(i stats.Interval) string {
	return s.Study.Environment.Objective.Interval(i)
}

// Compared names what is compared.
func (s *Summary) Compared() string { return s.Study.Environment.Objective.Name() }

// better is what one point is than another.
func (s *Summary) better() string {
	if m := s.Study.Environment.Objective; m != nil && m.Unit != kernels.Milliseconds {
		return "better in " + m.Formula
	}
	return "faster"
}

func speedupMeaning(s *Summary) string {
	if m := s.Study.Environment.Objective; m != nil {
		return fmt.Sprintf("A speedup above 1 means better, by %s;", code(m.Formula))
	}
	return "A speedup above 1 means faster;"
}

// workOf is what a launch of a point does: the same for all of a study, unless the manifest's
// formulas use parameters.
func (s *Summary) workOf(t *Timed) studies.Work {
	work := s.Study.Work
	if flops, its := t.Measured[objective.WorkFlops]; its {
		work.Flops, work.Bytes = flops, t.Measured[objective.WorkBytes]
	}
	return work
}

// measured adds what was measured of a point beside the objective: in its rounds, or in its trial where there are none.
func (s *Summary) measured(t *Timed, tried trial.Trial, rounds []trial.Round) {
	passed := collect.Where(rounds, func(r trial.Round) bool { return r.Outcome.Failure == nil })
	outcomes := collect.Each(passed, func(r trial.Round) objective.Outcome { return r.Outcome })
	if outcomes == nil && tried.OK() {
		outcomes = []objective.Outcome{tried.Outcome}
	}
	values := map[string][]float64{}
	for _, o := range outcomes {
		for name, value := range o.Measured {
			values[name] = append(values[name], value)
		}
	}
	if len(values) == 0 {
		return
	}
	t.Measured = map[string]float64{}
	for name, all := range values {
		t.Measured[name] = stats.Median(all)
	}
	s.achieves(t, s.workOf(t), t.Measured[kernels.Time])
}

// time is the time of a point, whatever it is compared by.
func (t *Timed) time() float64 {
	if ms, known := t.Measured[kernels.Time]; known {
		return ms
	}
	return t.Milliseconds
}

// compared are the default and the winner, where that is another point.
func (s *Summary) compared() []*Timed {
	if s.Winner == nil || s.Winner.Point == s.Default.Point {
		return []*Timed{s.Default}
	}
	return []*Timed{s.Default, s.Winner}
}

// measuredRows has what was measured of the default and of the winner, one quantity a row;
// none where the time is compared.
func measuredRows(s *Summary) (rows [][]string) {
	if s.Default == nil || s.Default.Measured == nil {
		return nil
	}
	units := map[string]string{}
	for _, q := range s.Study.Environment.Objective.Quantities() {
		units[q.Formula] = q.Unit
	}
	for _, name := range slices.Sorted(maps.Keys(s.Default.Measured)) {
		row := []string{name}
		for _, t := range s.compared() {
			text := page.Unknown
			if value, known := t.Measured[name]; known {
				text = page.Quantity{Unit: units[name]}.Value(value)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows
}

// measuredLines says in a terminal what the time is where something else is compared.
func measuredLines(s *Summary) []string {
	m := s.Study.Environment.Objective
	if m == nil || s.Default == nil || s.Default.Measured == nil {
		return nil
	}
	var lines []string
	if m.Formula != kernels.Time {
		line := "time: default " + page.Milliseconds(s.Default.Measured[kernels.Time])
		if s.Winner != nil && s.Winner.Measured != nil {
			line += ", winner " + page.Milliseconds(s.Winner.Measured[kernels.Time])
		}
		lines = []string{line}
	}
	if len(s.Front) > 0 {
		lines = append(lines,
			fmt.Sprintf("Pareto front: %s that no other beats in every objective; the page lists them.",
				page.Count(len(s.Front), "point")))
	}
	return lines
}

// FrontPoint is a trial that no other beats in all objectives.
type FrontPoint struct {
	Trial int         `json:"trial"`
	Point space.Point `json:"point"`
	// Scores are as they are compared, in the order of the objectives.
	Scores []float64 `json:"scores"`
}

// front returns the trials that no other is at least as good as in every objective and
// better in one, ordered by the first.
func front(trials []trial.Trial, m *page.Objective) []FrontPoint {
	if m == nil || len(m.All) < 2 {
		return nil
	}
	var all []FrontPoint
	for _, t := range trials {
		if t.OK() && len(t.Outcome.Scores) == len(m.All) {
			all = append(all, FrontPoint{t.Number, t.Point, t.Outcome.Scores})
		}
	}
	best := collect.Where(all, func(p FrontPoint) bool {
		return !slices.ContainsFunc(all, func(other FrontPoint) bool { return dominates(other.Scores, p.Scores) })
	})
	slices.SortStableFunc(best, func(a, b FrontPoint) int { return slices.Compare(a.Scores, b.Scores) })
	return best
}

// dominates reports whether a is nowhere worse than b, and somewhere better.
func dominates(a, b []float64) bool {
	better := false
	for i := range a {
		if a[i] > b[i] {
			return false
		}
		better = better || a[i] < b[i]
	}
	return better
}

// FrontCells writes the scores of a point on the front.
func (s *Summary) FrontCells(p FrontPoint) (cells []string) {
	for i, q := range s.Study.Environment.Objective.All {
		cells = append(cells, q.Text(p.Scores[i]))
	}
	return cells
}

// Pareto draws the front over the first two objectives, on log scales, and the trials behind it.
// Better is to the left and below, whatever is measured.
func (v *View) Pareto() Figure {
	figure := Figure{Title: "Pareto front", Caption: "Each dot is a trial; better is to the left and below."}
	if len(v.Front) < 2 {
		return figure
	}
	quantities := v.Study.Environment.Objective.All
	best, others := plot.Series{Name: "Pareto front", Color: plot.Best},
		plot.Series{Name: "other trials", Color: plot.Other}
	var scores [2][]float64
	dot := func(number int, point space.Point, at []float64, color string, radius float64) plot.Dot {
		scores[0], scores[1] = append(scores[0], at[0]), append(scores[1], at[1])
		title := fmt.Sprintf("trial %d: %s, %s, %s", number, quantities[0].Text(at[0]), quantities[1].Text(at[1]), point)
		return plot.Dot{XY: plot.XY{X: at[0], Y: at[1]}, Color: color, Radius: radius, Title: title, Href: v.href(number)}
	}
	for _, t := range v.trials {
		if t.OK() && len(t.Outcome.Scores) == len(quantities) &&
			!slices.ContainsFunc(v.Front, func(p FrontPoint) bool { return p.Trial == t.Number }) {
			others.Dots = append(others.Dots, dot(t.Number, t.Point, t.Outcome.Scores, plot.Other, 2.5))
		}
	}
	for _, p := range v.Front {
		best.Line = append(best.Line, plot.XY{X: p.Scores[0], Y: p.Scores[1]})
		best.Dots = append(best.Dots, dot(p.Trial, p.Point, p.Scores, plot.Best, 4))
	}
	axis := func(of int) plot.Axis {
		if q := quantities[of]; q.Unit != "bytes" || q.Maximize {
			return plot.Log(q.Formula, q.Text, scores[of]...)
		}
		return plot.Bytes(quantities[of].Formula, scores[of]...)
	}
	panel := plot.Panel{X: axis(0), Y: axis(1), Series: []plot.Series{others, best}}
	figure.Picture = plot.Plot{Name: figure.Title, Panels: []plot.Panel{panel}}.Picture()
	return figure
}

// programSuggestion is what to do to run the winner of a program.
func programSuggestion(s *Summary) *Suggestion {
	p := s.Study.Environment.Programs
	values, err := kernels.Values(p.Sizes, s.Winner.Point, p.Definitions)
	if err != nil {
		return nil
	}
	values[kernels.OutFolder] = "out"
	return &Suggestion{Command: programCommand(p, values), Macros: macros(s)}
}
