package reporting

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"pawl/gate/baseline"
	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/plot"
	"pawl/internal/stats"
)

// Trend is the history of one configuration, oldest first.
type Trend struct {
	baseline.Key
	Events []baseline.Event
	// Steps are the events at which the level changed for good.
	Steps []int
}

// Trends groups a history by configuration and finds the change points. Runs that
// measured nothing are left out.
func Trends(events []baseline.Event) []Trend {
	var trends []Trend
	index := map[baseline.Key]int{}
	for _, e := range events {
		if e.Median <= 0 {
			continue
		}
		i, known := index[e.Key]
		if !known {
			i = len(trends)
			index[e.Key] = i
			trends = append(trends, Trend{Key: e.Key})
		}
		trends[i].Events = append(trends[i].Events, e)
	}
	for i := range trends {
		// What was accepted was measured by the run before: it is one measurement.
		var medians []float64
		var measured []int
		for j, e := range trends[i].Events {
			if e.Verdict != baseline.Accepted {
				medians, measured = append(medians, e.Median), append(measured, j)
			}
		}
		for _, step := range stats.ChangePoints(medians, stats.ChangePointOptions{MinimumLength: 3}) {
			trends[i].Steps = append(trends[i].Steps, measured[step])
		}
	}
	return trends
}

// TrendSVG draws the time over gate runs, one panel per configuration, with the
// interval as a band and a line at each change point.
func TrendSVG(w io.Writer, trends []Trend) error {
	if err := timeline(trends...).WriteSVG(w); err != nil {
		return fmt.Errorf("drawing the trend: %w", err)
	}
	return nil
}

// Picture draws one configuration's history.
func (t Trend) Picture() plot.Picture {
	p := timeline(t)
	p.Panels[0].Title = "" // it stands above the picture
	return p.Picture()
}

func timeline(trends ...Trend) plot.Plot {
	return plot.Plot{
		Name: "Time over gate runs", Text: trendText(trends), Height: 150, Panels: collect.Each(trends, Trend.panel),
	}
}

func trendText(trends []Trend) string {
	return strings.Join(collect.Each(trends, func(t Trend) string {
		first, last := t.Events[0], t.Events[len(t.Events)-1]
		return fmt.Sprintf("%s: %s, from %s to %s, %s", t.Key, page.Count(len(t.Events), "run"),
			t.Key.Objective.Text(first.Median), t.Key.Objective.Text(last.Median),
			page.Count(len(t.Steps), "change point"))
	}), "; ")
}

func (t Trend) panel() plot.Panel {
	var times []float64
	for _, e := range t.Events {
		times = append(times, e.Interval.Low, e.Median, e.Interval.High)
	}
	p := plot.Panel{
		Title: t.Key.String(), MarkName: "change point",
		X: plot.Axis{High: float64(len(t.Events))},
		Y: plot.Linear("", t.Key.Objective.Text, times...),
	}
	s := plot.Series{Color: plot.Best}
	var below []plot.XY
	for i, e := range t.Events {
		x, day := float64(i)+0.5, e.Time.Format("2006-01-02")
		if i == 0 || i == len(t.Events)-1 {
			p.X.Ticks = append(p.X.Ticks, plot.Tick{At: x, Label: day})
		}
		s.Line = append(s.Line, plot.XY{X: x, Y: e.Median})
		s.Band = append(s.Band, plot.XY{X: x, Y: e.Interval.High})
		below = append(below, plot.XY{X: x, Y: e.Interval.Low})
		s.Dots = append(s.Dots, plot.Dot{XY: plot.XY{X: x, Y: e.Median}, Color: colorOf(e), Radius: 3, Title: dotTitle(e)})
	}
	slices.Reverse(below)
	s.Band = append(s.Band, below...)
	p.Marks = collect.Each(t.Steps, func(step int) float64 { return float64(step) })
	p.Series = []plot.Series{s}
	return p
}

// dotTitle says what an event was, and of an acceptance also why.
func dotTitle(e baseline.Event) string {
	text := fmt.Sprintf("%s %s: %s, %s", e.Time.Format("2006-01-02"), ShortCommit(e.Commit), e.Objective.Text(e.Median),
		e.Verdict)
	if e.Verdict == baseline.Accepted {
		text += ": " + e.Reason
	}
	return text
}

func colorOf(e baseline.Event) string {
	switch {
	case e.Verdict == baseline.Accepted:
		return plot.Colors[3]
	case e.Verdict.Fails():
		return plot.Bad
	case e.Verdict.Passes():
		return plot.Good
	}
	return plot.Other
}
