package report

import (
	"fmt"
	"strings"

	"pawl/internal/page"
	"pawl/internal/plot"
	"pawl/internal/stats"
)

// Measured is something with a time and its interval.
type Measured struct {
	Name         string
	Milliseconds float64
	// Measure is what they are compared by; nil is the time.
	Measure  *page.Objective
	Interval stats.Interval
	// Title is what the dot is called in full, Href where it leads.
	Title, Href string
	// Best says that it is the one to look at.
	Best bool
}

// Whiskers draws times with their intervals one below the other, so that what overlaps is
// seen to overlap.
func Whiskers(title, caption string, all []Measured) Figure {
	figure := Figure{Title: title, Caption: caption}
	if len(all) < 2 {
		return figure
	}
	bars := plot.Bars{Name: title}
	var ends []float64
	var texts []string
	for _, m := range all {
		ends = append(ends, m.Milliseconds)
		row := plot.Bar{
			Label: m.Name,
			Value: m.Measure.Text(m.Milliseconds),
			From:  m.Milliseconds,
			To:    m.Milliseconds,
			Color: plot.Other,
			Title: m.Title,
			Href:  m.Href,
		}
		if m.Best {
			row.Color = plot.Best
		}
		if m.Interval.Bounded() {
			row.Whisker = &[2]float64{m.Interval.Low, m.Interval.High}
			ends = append(ends, m.Interval.Low, m.Interval.High)
		}
		bars.Rows = append(bars.Rows, row)
		texts = append(texts,
			fmt.Sprintf("%s %s (%s)", m.Name, m.Measure.Text(m.Milliseconds), m.Measure.Interval(m.Interval)))
	}
	bars.X, bars.Text = plot.Linear("", all[0].Measure.Text, ends...), strings.Join(texts, "; ")
	figure.Picture = bars.Picture()
	return figure
}

// Waterfall draws what each change took away from the time, or added to it. The whisker
// is the interval of the step's own speedup.
func (v *View) Waterfall() Figure {
	figure := Figure{
		Title: "What each change is worth",
		Caption: "From the default to the winner, one change at a time: each bar begins where the one above it ends, and " +
			"its whisker is the 95 % interval of that step. The order matters: a change may pay only after another.",
	}
	if len(v.Ablation) < 2 {
		return figure
	}
	bars := plot.Bars{Name: figure.Title}
	ends := []float64{0}
	var texts []string
	for i, s := range v.Ablation {
		row := plot.Bar{Label: s.name(), To: s.Milliseconds, Value: v.Written(s.Milliseconds), Color: plot.Other}
		row.Title = fmt.Sprintf("%s: %s, %.2f× over the step before (%s), %.2f× over the default", row.Label, row.Value,
			s.Speedup, page.RatioInterval(s.Interval), s.Total)
		if i > 0 {
			before := v.Ablation[i-1].Milliseconds
			row.From, row.Value = before, fmt.Sprintf("%s, %.2f×", row.Value, s.Speedup)
			row.Color = plot.Good
			if s.Milliseconds > before {
				row.Color = plot.Bad
			}
			if s.Interval.Bounded() && s.Interval.Low > 0 {
				row.Whisker = &[2]float64{before / s.Interval.High, before / s.Interval.Low}
				ends = append(ends, row.Whisker[0], row.Whisker[1])
			}
		}
		ends = append(ends, s.Milliseconds)
		bars.Rows = append(bars.Rows, row)
		texts = append(texts, row.Label+" "+row.Value)
	}
	bars.X, bars.Text = plot.Linear("", v.Written, ends...).From(0, v.Written), strings.Join(texts, "; ")
	figure.Picture = bars.Picture()
	return figure
}

// Part is something that has a size, such as seconds or a count.
type Part struct {
	Name, Value string
	Size        float64
}

// Parts draws sizes as bars.
func Parts(title, caption, color string, write func(float64) string, parts []Part) Figure {
	figure := Figure{Title: title, Caption: caption}
	bars := plot.Bars{Name: title}
	sizes := []float64{0}
	for _, p := range parts {
		sizes = append(sizes, p.Size)
		bars.Rows = append(bars.Rows,
			plot.Bar{Label: p.Name, Value: p.Value, To: max(p.Size, 1e-9), Color: color, Title: p.Name + ": " + p.Value})
		bars.Text += p.Name + ": " + p.Value + ". "
	}
	bars.X = plot.Linear("", write, sizes...).From(0, write)
	figure.Picture = bars.Picture()
	return figure
}
