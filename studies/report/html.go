package report

import (
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"strings"

	"pawl/internal/page"
	"pawl/internal/plot"
	"pawl/space"
)

//go:embed page.html
var pageSource string

var htmlPage = template.Must(template.New("page").Funcs(template.FuncMap{
	"ms":         page.Milliseconds,
	"interval":   page.TimeInterval,
	"ratio":      page.RatioInterval,
	"variation":  func(t Timed) string { return variationCell(&t) },
	"throughput": func(t Timed) string { return Throughput(&t) },
	"speedup":    speedupCell,
	"best":       probabilityCell,
	"changes":    changesText,
	"percent":    page.WholePercent,
	"add":        func(a, b int) int { return a + b },
	"withheld":   Withheld,
	"across":     func(s *Summary) [][]string { return acrossRows(s, plain, plain) },
	"acrossHead": func() []string { return acrossHeader },
	"ungated":    ungated,
	"gateHeader": func() []string { return gateHeader },
	"gateRows":   func(s *Summary) [][]string { return gateRows(s, plain, plain) },
	"gateNotes":  gateNotes,
	"checked":    checkedRows,
	"unchecked":  unchecked,
	"timeRows":   timeRows,
	"background": background,
	"curve":      curve,
	"roofline":   roofline,
	"stallBars":  stallBars,
	"step":       stepBar,
	"point":      breakable,
	"bar":        func(share float64) float64 { return 100 * share },
}).Parse(pageSource))

// breakable lets a point's text break after commas instead of inside names.
func breakable(p space.Point) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(p.String()), ",", ",<wbr>"))
}

// plain leaves text to the template, which escapes it.
func plain(text string) string { return text }

// HTML writes one page that needs nothing from elsewhere.
func HTML(w io.Writer, s *Summary) error { return htmlPage.Execute(w, s) }

// curve draws every trial's time and the best so far, on a log scale: slow points
// would otherwise press everything interesting to the floor. There is none of one trial.
func curve(points []CurvePoint) template.HTML {
	if len(points) < 2 {
		return ""
	}
	var times []float64
	for _, p := range points {
		times = append(times, p.Milliseconds)
	}
	panel := plot.Panel{X: plot.Counts("trial", points[len(points)-1].Trial), Y: plot.Times("time", times...)}
	best, others := plot.Series{Name: "best so far", Colour: plot.Best}, plot.Series{Name: "other trials", Colour: plot.Other}
	for i, p := range points {
		x := float64(p.Trial)
		dot := plot.Dot{XY: plot.XY{X: x, Y: p.Milliseconds}, Colour: plot.Other, Radius: 2.5, Title: fmt.Sprintf("trial %d: %s", p.Trial, page.Milliseconds(p.Milliseconds))}
		if i > 0 {
			best.Line = append(best.Line, plot.XY{X: x, Y: points[i-1].Best})
		}
		best.Line = append(best.Line, plot.XY{X: x, Y: p.Best})
		if i == 0 || p.Best < points[i-1].Best {
			dot.Colour, dot.Radius = plot.Best, 4
			best.Dots = append(best.Dots, dot)
		} else {
			others.Dots = append(others.Dots, dot)
		}
	}
	panel.Series = []plot.Series{others, best}
	return plot.Plot{Name: "Time of each trial and the best so far", Panels: []plot.Panel{panel}}.HTML()
}

// stepBar is how long the bar of an ablation's step is, as a share of the longest.
func stepBar(steps []Step, of Step) float64 {
	longest := 0.0
	for _, s := range steps {
		longest = max(longest, s.Milliseconds)
	}
	return of.Milliseconds / longest
}
