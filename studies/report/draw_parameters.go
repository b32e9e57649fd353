package report

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/plot"
)

// Parameters draws, for each of the parameters named, the time against its value. A
// parameter of which one value was tried has no picture.
func (s *Drawing) Parameters(names []string) []Figure {
	figures := make([]Figure, len(names))
	var drawing sync.WaitGroup
	for i, name := range names {
		drawing.Go(func() { figures[i] = s.parameter(name) })
	}
	drawing.Wait()
	return slices.DeleteFunc(figures, func(f Figure) bool { return f.Width == 0 })
}

func (s *Drawing) parameter(name string) Figure {
	figure := Figure{Title: name}
	at := s.param(name)
	if at < 0 || len(s.timed) < 2 {
		return figure
	}
	s.place()
	panel := plot.Panel{X: plot.Categories(name, s.params[at].Values), Y: s.axis()}
	best := make([]*timed, len(s.params[at].Values))
	var shown []timed
	var places []plot.XY
	for i, t := range s.timed {
		place := t.values[at]
		if place < 0 {
			continue
		}
		if best[place] == nil || t.ms < best[place].ms {
			best[place] = &s.timed[i]
		}
		// Dots of one value stand side by side, in an order that looks like none.
		aside := 0.5 * (math.Mod(float64(t.trial.Number)*0.618034, 1) - 0.5)
		shown, places = append(shown, t), append(places, plot.XY{X: float64(place) + aside, Y: t.ms})
	}
	dots := collect.Each(plot.ThinPlaces(places, panel.X, panel.Y, mostSmall), func(i int) plot.Dot {
		return s.dot(shown[i], places[i].X, plot.Other, 2)
	})
	line := plot.Series{Name: "best per value", Color: plot.Best}
	tried, text := 0, ""
	for place, t := range best {
		if t == nil {
			continue
		}
		tried++
		line.Line = append(line.Line, plot.XY{X: float64(place), Y: t.ms})
		line.Dots = append(line.Dots, s.dot(*t, float64(place), plot.Best, 4))
		text += fmt.Sprintf("%s: %s. ", s.params[at].Values[place], s.measure.Text(t.ms))
	}
	if tried < 2 {
		return figure
	}
	if !s.params[at].Ordered {
		line.Line = nil // values without an order have no line through them
	}
	panel.Series = []plot.Series{{Name: "trials", Color: plot.Other, Dots: dots}, line}
	figure.Picture = plot.Plot{
		Name:   "Time against " + name,
		Text:   "Best per value: " + text,
		Height: 150,
		Panels: []plot.Panel{panel},
	}.Picture()
	return figure
}

// Importance draws the share of the variation that each parameter explains by itself.
func (v *View) Importance() Figure {
	figure := Figure{
		Title:   "Which parameters matter",
		Caption: "The share of the variation in log time that each explains by itself.",
	}
	bars := plot.Bars{Name: figure.Title}
	highest := 0.0
	for _, i := range v.Importances {
		highest = max(highest, i.Share)
		bars.Text += fmt.Sprintf("%s %s. ", i.Name, page.WholePercent(i.Share))
		bars.Rows = append(bars.Rows,
			plot.Bar{Label: i.Name, Value: page.WholePercent(i.Share), To: max(i.Share, 1e-6), Color: plot.Best})
	}
	bars.X = plot.Linear("", page.WholePercent, 0, max(highest, 0.05)).From(0, page.WholePercent)
	figure.Picture = bars.Picture()
	return figure
}

// InteractionOf draws the best time for each pair of values of two parameters.
func (s *Drawing) InteractionOf(x, y string) Figure {
	figure := Figure{
		Title: fmt.Sprintf("%s and %s together", x, y),
		Caption: "The best time of each pair of values; the stronger, the faster. An empty cell was not tried, or nothing " +
			"passed there.",
	}
	column, row := s.param(x), s.param(y)
	if column < 0 || row < 0 || column == row {
		return figure
	}
	s.place()
	best := map[[2]int]timed{}
	for _, t := range s.timed {
		cell := [2]int{t.values[column], t.values[row]}
		if known, found := best[cell]; cell[0] >= 0 && cell[1] >= 0 && (!found || t.ms < known.ms) {
			best[cell] = t
		}
	}
	heat := plot.Heat{Name: "Best time by " + x + " and " + y, XName: x, YName: y}
	var columns, rows []int
	heat.XValues, columns = s.tried(column)
	heat.YValues, rows = s.tried(row)
	var fastest *plot.Cell
	for cy, row := range rows {
		for cx, column := range columns {
			t, found := best[[2]int{column, row}]
			if !found {
				continue
			}
			heat.Cells = append(heat.Cells,
				plot.Cell{
					X:     cx,
					Y:     cy,
					Value: t.ms,
					Label: s.measure.Text(rounded(t.ms)),
					Title: s.title(t),
					Href:  s.href(t.trial.Number),
				})
			if c := &heat.Cells[len(heat.Cells)-1]; fastest == nil || c.Value < fastest.Value {
				fastest = c
			}
		}
	}
	if fastest != nil {
		heat.Text = fmt.Sprintf("Fastest at %s=%s and %s=%s: %s.", x, heat.XValues[fastest.X], y, heat.YValues[fastest.Y],
			s.measure.Text(fastest.Value))
	}
	figure.Picture = heat.Picture()
	return figure
}

// tried returns those of a parameter's values that were tried, and their places among all.
func (s *Drawing) tried(at int) (values []string, places []int) {
	for place, value := range s.params[at].Values {
		if slices.ContainsFunc(s.timed, func(t timed) bool { return t.values[at] == place }) {
			values, places = append(values, value), append(places, place)
		}
	}
	return values, places
}

// rounded has two significant digits.
func rounded(x float64) float64 {
	if x <= 0 {
		return x
	}
	scale := math.Pow(10, 1-math.Floor(math.Log10(x)))
	return math.Round(x*scale) / scale
}
