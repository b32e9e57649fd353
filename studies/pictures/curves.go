package pictures

import (
	"fmt"

	"pawl/internal/page"
	"pawl/internal/plot"
)

// Curve is a study to compare with others.
type Curve struct {
	Name string
	*Search
}

// Compare draws the best so far of several studies over their trials.
func Compare(curves []Curve) Figure {
	figure := Figure{
		Title:   "The searches",
		Caption: "The best time after each trial; log scale. Times of different days or devices were not measured together.",
	}
	var all []float64
	last, text := 0, ""
	var series []plot.Series
	for i, c := range curves {
		line := plot.Series{Name: c.Name, Colour: plot.Colours[i%(len(plot.Colours)-1)]}
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
			line.Dots = append(line.Dots, c.dot(t, x, line.Colour, 3.5))
			all = append(all, best)
		}
		if n := len(c.timed); n > 0 {
			line.Line = append(line.Line, plot.XY{X: float64(c.timed[n-1].trial.Number), Y: best})
			text += fmt.Sprintf("%s: %s after %s. ", c.Name, page.Milliseconds(best), page.Count(n, "trial"))
		}
		series = append(series, line)
	}
	if len(all) == 0 {
		return figure
	}
	panel := plot.Panel{X: plot.Counts("trial", last), Y: plot.Times("best so far", all...), Series: series}
	figure.Picture = plot.Plot{Name: "Best so far of each study", Text: text, Panels: []plot.Panel{panel}}.Picture()
	return figure
}
