package report

import (
	"fmt"
	"io"
	"math"
	"slices"

	"pawl/gate/baseline"
	"pawl/internal/page"
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
	plot := page.Plot{Name: "time over gate runs", Width: 640, Height: 160}
	for _, t := range trends {
		plot.Panels = append(plot.Panels, t.panel())
	}
	if err := plot.WriteSVG(w); err != nil {
		return fmt.Errorf("drawing the trend: %w", err)
	}
	return nil
}

func (t Trend) panel() page.Panel {
	low, high := math.Inf(1), 0.0
	for _, e := range t.Events {
		low, high = min(low, e.Interval.Low), max(high, e.Interval.High)
	}
	if high == low {
		low, high = 0.95*low, 1.05*high
	}
	p := page.Panel{
		Title: t.Key.String(), MarkName: "change point",
		X: page.Axis{High: float64(len(t.Events))},
		Y: page.Axis{Low: low, High: high, Ticks: []page.Tick{{At: low, Label: page.Milliseconds(low)}, {At: high, Label: page.Milliseconds(high)}}},
	}
	s := page.Series{Colour: page.Colours[0]}
	var below []page.XY
	for i, e := range t.Events {
		x, day := float64(i)+0.5, e.Time.Format("2006-01-02")
		if i == 0 || i == len(t.Events)-1 {
			p.X.Ticks = append(p.X.Ticks, page.Tick{At: x, Label: day})
		}
		s.Line = append(s.Line, page.XY{X: x, Y: e.Median})
		s.Band = append(s.Band, page.XY{X: x, Y: e.Interval.High})
		below = append(below, page.XY{X: x, Y: e.Interval.Low})
		s.Dots = append(s.Dots, page.Dot{XY: page.XY{X: x, Y: e.Median}, Colour: colourOf(e), Radius: 3, Title: dotTitle(e)})
	}
	slices.Reverse(below)
	s.Band = append(s.Band, below...)
	for _, step := range t.Steps {
		p.Marks = append(p.Marks, float64(step))
	}
	p.Series = []page.Series{s}
	return p
}

// dotTitle says what an event was, and of an acceptance also why.
func dotTitle(e baseline.Event) string {
	text := fmt.Sprintf("%s %s: %s, %s", e.Time.Format("2006-01-02"), shortCommit(e.Commit), page.Milliseconds(e.Median), e.Verdict)
	if e.Verdict == baseline.Accepted {
		text += ": " + e.Reason
	}
	return text
}

// colourOf marks verdicts.
func colourOf(e baseline.Event) string {
	switch {
	case e.Verdict == baseline.Accepted:
		return page.Colours[3]
	case e.Verdict.Fails():
		return page.Colours[1]
	case e.Verdict.Passes():
		return page.Colours[2]
	}
	return page.Colours[7]
}
