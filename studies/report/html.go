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
	"changes":    ChangesText,
	"percent":    page.WholePercent,
	"seconds":    page.Seconds,
	"add":        func(a, b int) int { return a + b },
	"withheld":   withheld,
	"checked":    CheckedRows,
	"unchecked":  unchecked,
	"ended":      endedText,
	"remembered": RememberedText,
	"space":      spaceText,
	"timeRows":   TimeRows,
	"dead":       DeadText,
	"conditions": ConditionsText,
	"regret":     RegretText,
	"curve":      newCurveChart,
	"steps":      newStepChart,
	"point":      breakable,
	"bar":        func(share float64) float64 { return 100 * share },
}).Parse(pageSource))

// breakable lets a point's text break after commas instead of inside names.
func breakable(p space.Point) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(p.String()), ",", ",<wbr>"))
}

// HTML writes one page that needs nothing from elsewhere.
func HTML(w io.Writer, s *Summary) error { return htmlPage.Execute(w, s) }

// chart is a plot area in the page's units.
type chart struct {
	Width, Height float64
	Left, Bottom  float64
	Dots          []dot
	Line          string
	YTicks        []tick
	XTicks        []tick
}

type dot struct {
	X, Y  float64
	Title string
	Leads bool
}

type tick struct {
	At    float64
	Label string
}

const (
	chartWidth, chartHeight = 720.0, 260.0
	chartLeft, chartBottom  = 64.0, 28.0
)

// newCurveChart plots every trial's time and the best so far, on a log scale:
// slow points would otherwise press everything interesting to the floor.
func newCurveChart(points []CurvePoint) *chart {
	if len(points) < 2 {
		return nil
	}
	c := &chart{Width: chartWidth, Height: chartHeight, Left: chartLeft, Bottom: chartHeight - chartBottom}
	low, high, last := math.Inf(1), 0.0, 1
	for _, p := range points {
		low, high, last = min(low, p.Milliseconds), max(high, p.Milliseconds), max(last, p.Trial)
	}
	low, high = low/1.1, high*1.1
	y := func(ms float64) float64 {
		return 10 + (c.Bottom-10)*(1-math.Log(ms/low)/math.Log(high/low))
	}
	x := func(trial int) float64 {
		return chartLeft + (chartWidth-chartLeft-10)*float64(trial)/float64(last)
	}
	var line strings.Builder
	previous := 0.0
	for i, p := range points {
		leads := i == 0 || p.Best < previous
		if i > 0 {
			fmt.Fprintf(&line, " L%.1f %.1f", x(p.Trial), y(previous))
		}
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&line, " %s%.1f %.1f", command, x(p.Trial), y(p.Best))
		previous = p.Best
		c.Dots = append(c.Dots, dot{x(p.Trial), y(p.Milliseconds), fmt.Sprintf("trial %d: %s", p.Trial, page.Milliseconds(p.Milliseconds)), leads})
	}
	c.Line = strings.TrimSpace(line.String())
	for i := range 5 {
		ms := low * math.Pow(high/low, float64(i)/4)
		c.YTicks = append(c.YTicks, tick{y(ms), page.Milliseconds(roundTo(ms, 2))})
		trial := last * i / 4
		c.XTicks = append(c.XTicks, tick{x(trial), fmt.Sprint(trial)})
	}
	return c
}

// roundTo rounds to a number of significant digits.
func roundTo(x float64, digits int) float64 {
	scale := math.Pow(10, float64(digits-1)-math.Floor(math.Log10(x)))
	return math.Round(x*scale) / scale
}

// stepBar is one bar of the ablation.
type stepBar struct {
	Y, Width float64
	Label    string
	Value    string
}

type stepChart struct {
	Width, Height, Left float64
	Bars                []stepBar
}

// newStepChart draws the time after each step of the ablation.
func newStepChart(steps []Step) *stepChart {
	if len(steps) == 0 {
		return nil
	}
	longest := 0.0
	for _, s := range steps {
		longest = max(longest, s.Milliseconds)
	}
	c := &stepChart{Width: chartWidth, Height: float64(len(steps))*30 + 6, Left: 250}
	for i, s := range steps {
		label := "default"
		if i > 0 {
			label = ChangesText(s.Changes)
		}
		c.Bars = append(c.Bars, stepBar{
			Y: float64(i)*30 + 4, Width: (chartWidth - c.Left - 150) * s.Milliseconds / longest,
			Label: label, Value: fmt.Sprintf("%s, %.2f×", page.Milliseconds(s.Milliseconds), s.Total),
		})
	}
	return c
}
