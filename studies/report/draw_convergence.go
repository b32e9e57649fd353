package report

import (
	"fmt"

	"pawl/internal/page"
	"pawl/internal/plot"
)

// mostDots is how many dots a picture of all trials has at most, mostSmall one of many.
const mostDots, mostSmall = 1000, 120

// Convergence draws every trial's time and the best so far, on a log scale: slow points
// would otherwise press everything interesting to the floor. There is none of one trial.
func (s *Drawing) Convergence() Figure {
	figure := Figure{Title: "Time of each trial"}
	if len(s.timed) < 2 {
		return figure
	}
	last := s.timed[len(s.timed)-1]
	panel := plot.Panel{X: plot.Counts("trial", last.trial.Number), Y: s.axis()}
	best, others := plot.Series{Name: "best so far", Color: plot.Best},
		plot.Series{Name: "other trials", Color: plot.Other}
	fastest := s.timed[0]
	var rest []timed
	var places []plot.XY
	for i, t := range s.timed {
		x := float64(t.trial.Number)
		if i > 0 && t.ms >= fastest.ms {
			rest, places = append(rest, t), append(places, plot.XY{X: x, Y: t.ms})
			continue
		}
		best.Line = append(best.Line, plot.XY{X: x, Y: fastest.ms}, plot.XY{X: x, Y: t.ms})
		best.Dots = append(best.Dots, s.dot(t, x, plot.Best, 4))
		fastest = t
	}
	best.Line = append(best.Line, plot.XY{X: float64(last.trial.Number), Y: fastest.ms})
	for _, i := range plot.ThinPlaces(places, panel.X, panel.Y, mostDots) {
		others.Dots = append(others.Dots, s.dot(rest[i], places[i].X, plot.Other, 2.5))
	}
	panel.Series = []plot.Series{others, best}
	figure.Caption = "Each dot is a trial that passed, the line the best so far; log scale." +
		thinned(len(others.Dots), len(rest))
	figure.Picture = plot.Plot{
		Name: "Time of each trial and the best so far",
		Text: fmt.Sprintf("%s from %s to %s; the best is trial %d.", page.Count(len(s.timed), "trial"),
			s.measure.Text(s.timed[0].ms), s.measure.Text(fastest.ms), fastest.trial.Number),
		Panels: []plot.Panel{panel},
	}.Picture()
	return figure
}

// Curve is a study to compare with others.
type Curve struct {
	Name string
	*Drawing
}

// CompareSearches draws the best so far of several studies over their trials.
func CompareSearches(curves []Curve) Figure {
	figure := Figure{
		Title:   "The searches",
		Caption: "The best after each trial; log scale. Times of different days or devices were not measured together.",
	}
	var all []float64
	last, text := 0, ""
	var series []plot.Series
	for i, c := range curves {
		line := plot.Series{Name: c.Name, Color: plot.Colors[i%(len(plot.Colors)-1)]}
		best := 0.0
		for j, t := range c.timed {
			x := float64(t.trial.Number)
			last = max(last, t.trial.Number)
			if j > 0 && t.ms >= best {
				continue
			}
			if j > 0 {
				line.Line = append(line.Line, plot.XY{X: x, Y: best})
			}
			best = t.ms
			line.Line = append(line.Line, plot.XY{X: x, Y: best})
			line.Dots = append(line.Dots, c.dot(t, x, line.Color, 3.5))
			all = append(all, best)
		}
		if n := len(c.timed); n > 0 {
			line.Line = append(line.Line, plot.XY{X: float64(c.timed[n-1].trial.Number), Y: best})
			text += fmt.Sprintf("%s: %s after %s. ", c.Name, c.measure.Text(best), page.Count(n, "trial"))
		}
		series = append(series, line)
	}
	if len(all) == 0 {
		return figure
	}
	y := plot.Log("best so far", curves[0].measure.Text, all...)
	panel := plot.Panel{X: plot.Counts("trial", last), Y: y, Series: series}
	figure.Picture = plot.Plot{Name: "Best so far of each study", Text: text, Panels: []plot.Panel{panel}}.Picture()
	return figure
}
