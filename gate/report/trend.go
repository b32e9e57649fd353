package report

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

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
		var medians []float64
		for _, e := range trends[i].Events {
			medians = append(medians, e.Median)
		}
		trends[i].Steps = stats.ChangePoints(medians, stats.ChangePointOptions{MinimumLength: 3})
	}
	return trends
}

// Sizes of a panel and the space round it, in pixels.
const (
	trendWidth, trendHeight = 640, 160
	trendLeft, trendTop     = 80, 40
	trendGap                = 30
)

type trendPanel struct {
	Y                  int
	Title, Line, Band  string
	Points             []trendPoint
	Steps              []float64
	High, Low          string
	FirstDate, EndDate string
}

type trendPoint struct {
	X, Y   float64
	Colour string
	Title  string
}

var trendTemplate = template.Must(template.New("trend").Parse(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{.Width}} {{.Height}}" width="{{.Width}}" height="{{.Height}}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="#ffffff"/>
{{range .Panels}}<g transform="translate({{$.Left}} {{.Y}})">
<text x="0" y="-14" font-weight="bold">{{.Title}}</text>
<rect width="{{$.PanelWidth}}" height="{{$.PanelHeight}}" fill="none" stroke="#cccccc"/>
<text x="-6" y="10" text-anchor="end">{{.High}}</text><text x="-6" y="{{$.PanelHeight}}" text-anchor="end">{{.Low}}</text>
<text x="0" y="{{$.PanelHeight}}" dy="14">{{.FirstDate}}</text><text x="{{$.PanelWidth}}" y="{{$.PanelHeight}}" dy="14" text-anchor="end">{{.EndDate}}</text>
<polygon points="{{.Band}}" fill="#0072b2" fill-opacity="0.15"/>
{{range .Steps}}<line x1="{{.}}" y1="0" x2="{{.}}" y2="{{$.PanelHeight}}" stroke="#d55e00" stroke-dasharray="4 3"><title>change point</title></line>
{{end}}<polyline fill="none" stroke="#0072b2" stroke-width="1.4" points="{{.Line}}"/>
{{range .Points}}<circle cx="{{.X}}" cy="{{.Y}}" r="3" fill="{{.Colour}}"><title>{{.Title}}</title></circle>
{{end}}</g>
{{end}}</svg>
`))

// TrendSVG draws the time over gate runs, one panel per configuration, with the
// interval as a band and a line at each change point. It needs nothing from
// elsewhere.
func TrendSVG(w io.Writer, trends []Trend) error {
	page := struct {
		Width, Height, Left, PanelWidth, PanelHeight int
		Panels                                       []trendPanel
	}{
		Width: trendLeft + trendWidth + trendGap, Height: trendGap + len(trends)*(trendTop+trendHeight+trendGap),
		Left: trendLeft, PanelWidth: trendWidth, PanelHeight: trendHeight,
	}
	for i, t := range trends {
		p := newTrendPanel(t)
		p.Y = trendTop + i*(trendTop+trendHeight+trendGap)
		page.Panels = append(page.Panels, p)
	}
	if err := trendTemplate.Execute(w, page); err != nil {
		return fmt.Errorf("drawing the trend: %w", err)
	}
	return nil
}

func newTrendPanel(t Trend) trendPanel {
	low, high := math.Inf(1), 0.0
	for _, e := range t.Events {
		low, high = min(low, e.Interval.Low), max(high, e.Interval.High)
	}
	if high == low {
		low, high = 0.95*low, 1.05*high
	}
	x := func(i float64) float64 { return pixel(trendWidth * (i + 0.5) / float64(len(t.Events))) }
	y := func(ms float64) float64 { return pixel(trendHeight * (high - ms) / (high - low)) }
	last := t.Events[len(t.Events)-1]
	p := trendPanel{
		Title: t.Key.String(), High: page.Milliseconds(high), Low: page.Milliseconds(low),
		FirstDate: t.Events[0].Time.Format("2006-01-02"), EndDate: last.Time.Format("2006-01-02"),
	}
	var line, above, below []string
	for i, e := range t.Events {
		at := x(float64(i))
		line = append(line, fmt.Sprintf("%g,%g", at, y(e.Median)))
		above = append(above, fmt.Sprintf("%g,%g", at, y(e.Interval.High)))
		below = append([]string{fmt.Sprintf("%g,%g", at, y(e.Interval.Low))}, below...)
		p.Points = append(p.Points, trendPoint{at, y(e.Median), colourOf(e), fmt.Sprintf("%s %s: %s, %s", e.Time.Format("2006-01-02"), shortCommit(e.Commit), page.Milliseconds(e.Median), e.Verdict)})
	}
	p.Line, p.Band = strings.Join(line, " "), strings.Join(append(above, below...), " ")
	for _, step := range t.Steps {
		p.Steps = append(p.Steps, x(float64(step)-0.5))
	}
	return p
}

// colourOf marks verdicts, after Okabe and Ito: told apart by people who do not
// see all colours.
func colourOf(e baseline.Event) string {
	switch {
	case e.Verdict.Fails():
		return "#d55e00"
	case e.Verdict.Passes():
		return "#009e73"
	}
	return "#999999"
}

func pixel(x float64) float64 { return math.Round(10*x) / 10 }
