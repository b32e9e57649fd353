package report

import (
	"fmt"
	"slices"

	"pawl/internal/collect"
	"pawl/internal/plot"
)

// mostLines is how many trials the parallel coordinates have at most.
const mostLines = 220

// Parallel draws points as lines through an axis per parameter and one of time. Those named
// first stand first; the last ones are left out where there are very many.
func (s *Drawing) Parallel(names []string) Figure {
	figure := Figure{
		Title:   "All parameters at once",
		Caption: "Each line is a trial: through its values and to its time; the ten fastest are blue.",
		Wide:    true,
	}
	const mostAxes = 12
	var columns []int
	for _, name := range names {
		if at := s.param(name); at >= 0 && len(s.params[at].Values) > 1 && len(columns) < mostAxes {
			columns = append(columns, at)
		}
	}
	if len(s.timed) < 2 || len(columns) == 0 {
		return figure
	}
	s.place()
	axes := collect.Each(columns, func(at int) plot.Axis {
		return plot.Categories(s.params[at].Name, s.params[at].Values)
	})
	picture := plot.Parallel{Name: "Trials through all parameters", Axes: append(axes, s.axis())}
	ranked := s.fastest()
	picture.Text = "The fastest is " + s.title(ranked[0]) + "."
	// The ten fastest and an even choice of the others, slow ones first: what is drawn last
	// lies above.
	step := max(1, (len(ranked)+mostLines-1)/mostLines)
	for i, t := range slices.Backward(ranked) {
		if i >= 10 && i%step != 0 {
			continue
		}
		line := plot.Thread{Color: plot.Other, Faint: true, Title: s.title(t), Href: s.href(t.trial.Number)}
		if i < 10 {
			line.Color, line.Faint = plot.Best, i > 0
		}
		line.At = append(collect.Each(columns, func(at int) float64 { return float64(max(t.values[at], 0)) }), t.ms)
		picture.Lines = append(picture.Lines, line)
	}
	if step > 1 {
		figure.Caption += fmt.Sprintf(" %d of %d trials are drawn.", len(picture.Lines), len(ranked))
	}
	figure.Picture = picture.Picture()
	return figure
}
