package report

import (
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"pawl/internal/page"
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
	low, high, last := math.Inf(1), 0.0, 1
	for _, p := range points {
		low, high, last = min(low, p.Milliseconds), max(high, p.Milliseconds), max(last, p.Trial)
	}
	low, high = low/1.1, high*1.1
	panel := page.Panel{X: page.Axis{High: float64(last)}, Y: page.Axis{Low: low, High: high, Log: true}}
	for i := range 5 {
		ms, trial := low*math.Pow(high/low, float64(i)/4), last*i/4
		panel.Y.Ticks = append(panel.Y.Ticks, page.Tick{At: ms, Label: page.Milliseconds(roundTo(ms, 2))})
		panel.X.Ticks = append(panel.X.Ticks, page.Tick{At: float64(trial), Label: fmt.Sprint(trial)})
	}
	s := page.Series{Colour: "var(--best)"}
	for i, p := range points {
		x := float64(p.Trial)
		dot := page.Dot{XY: page.XY{X: x, Y: p.Milliseconds}, Colour: "var(--dot)", Radius: 2.5, Title: fmt.Sprintf("trial %d: %s", p.Trial, page.Milliseconds(p.Milliseconds))}
		if i > 0 {
			s.Line = append(s.Line, page.XY{X: x, Y: points[i-1].Best})
		}
		if i == 0 || p.Best < points[i-1].Best {
			dot.Colour, dot.Radius = "var(--best)", 4
		}
		s.Line = append(s.Line, page.XY{X: x, Y: p.Best})
		s.Dots = append(s.Dots, dot)
	}
	panel.Series = []page.Series{s}
	return page.Plot{Name: "time of each trial and the best so far", Width: 640, Height: 220, Panels: []page.Panel{panel}}.HTML()
}

// roundTo rounds to a number of significant digits.
func roundTo(x float64, digits int) float64 {
	scale := math.Pow(10, float64(digits-1)-math.Floor(math.Log10(x)))
	return math.Round(x*scale) / scale
}

// stepBar is how long the bar of an ablation's step is, as a share of the longest.
func stepBar(steps []Step, of Step) float64 {
	longest := 0.0
	for _, s := range steps {
		longest = max(longest, s.Milliseconds)
	}
	return of.Milliseconds / longest
}
