package report

import (
	"fmt"

	"pawl/internal/collect"
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
	best, fastest, rest := s.bestSoFar("best so far", plot.Best, 4)
	others := plot.Series{Name: "other trials", Color: plot.Other}
	places := collect.Each(rest, func(t timed) plot.XY { return plot.XY{X: float64(t.trial.Number), Y: t.ms} })
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

// bestSoFar draws the best time over the trials, of which there is one at least, with a dot for each trial that was
// faster than all before it. It returns the fastest trial too, and those that have no dot.
func (s *Drawing) bestSoFar(name, color string, radius float64) (best plot.Series, fastest timed, rest []timed) {
	best, fastest = plot.Series{Name: name, Color: color}, s.timed[0]
	for i, t := range s.timed {
		x := float64(t.trial.Number)
		if i > 0 && t.ms >= fastest.ms {
			rest = append(rest, t)
			continue
		}
		best.Line = append(best.Line, plot.XY{X: x, Y: fastest.ms}, plot.XY{X: x, Y: t.ms})
		best.Dots = append(best.Dots, s.dot(t, x, color, radius))
		fastest = t
	}
	last := s.timed[len(s.timed)-1].trial.Number
	best.Line = append(best.Line, plot.XY{X: float64(last), Y: fastest.ms})
	return best, fastest, rest
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
		color := plot.Colors[i%(len(plot.Colors)-1)]
		if len(c.timed) == 0 {
			series = append(series, plot.Series{Name: c.Name, Color: color}) // for the legend
			continue
		}
		best, fastest, _ := c.bestSoFar(c.Name, color, 3.5)
		series = append(series, best)
		all = append(all, collect.Each(best.Line, func(at plot.XY) float64 { return at.Y })...)
		last = max(last, c.timed[len(c.timed)-1].trial.Number)
		text += fmt.Sprintf("%s: %s after %s. ", c.Name, c.measure.Text(fastest.ms), page.Count(len(c.timed), "trial"))
	}
	if len(all) == 0 {
		return figure
	}
	y := plot.Log("best so far", curves[0].measure.Text, all...)
	panel := plot.Panel{X: plot.Counts("trial", last), Y: y, Series: series}
	figure.Picture = plot.Plot{Name: "Best so far of each study", Text: text, Panels: []plot.Panel{panel}}.Picture()
	return figure
}
