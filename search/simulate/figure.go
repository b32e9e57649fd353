package simulate

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
)

// colours are the figure's, after Okabe and Ito: told apart by people who do
// not see all of them.
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"}

// Sizes of a panel and the space round it, in pixels.
const (
	panelWidth, panelHeight = 340, 220
	marginLeft, marginTop   = 50, 34
	gapRight, gapBottom     = 24, 44
	panelColumns            = 3
)

type figure struct {
	Width, Height int
	Panels        []panel
	Legend        []legend
}

type panel struct {
	X, Y   int
	Title  string
	Curves []curve
	Ticks  []tick
}

type curve struct{ Colour, Points, Name string }

type tick struct {
	X1, Y1, X2, Y2 float64
	TextX, TextY   float64
	Anchor, Label  string
}

type legend struct {
	X, Y         int
	Colour, Name string
}

var figureTemplate = template.Must(template.New("figure").Parse(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{.Width}} {{.Height}}" width="{{.Width}}" height="{{.Height}}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="#ffffff"/>
{{range .Legend}}<line x1="{{.X}}" y1="{{.Y}}" x2="{{.X}}" y2="{{.Y}}" stroke="{{.Colour}}" stroke-width="10" stroke-linecap="square"/><text x="{{.X}}" y="{{.Y}}" dx="12" dy="4">{{.Name}}</text>
{{end}}{{range .Panels}}<g transform="translate({{.X}} {{.Y}})">
<text x="0" y="-10" font-weight="bold">{{.Title}}</text>
{{range .Ticks}}<line x1="{{.X1}}" y1="{{.Y1}}" x2="{{.X2}}" y2="{{.Y2}}" stroke="#dddddd"/><text x="{{.TextX}}" y="{{.TextY}}" text-anchor="{{.Anchor}}">{{.Label}}</text>
{{end}}{{range .Curves}}<polyline fill="none" stroke="{{.Colour}}" stroke-width="1.6" points="{{.Points}}"><title>{{.Name}}</title></polyline>
{{end}}</g>
{{end}}</svg>
`))

// WriteSVG draws the mean fraction of the optimum over the evaluations, one
// panel per space and one over all. The picture needs nothing from elsewhere.
func (r *Report) WriteSVG(w io.Writer) error {
	type content struct {
		title    string
		samplers []SamplerReport
	}
	var contents []content
	if len(r.Spaces) > 1 {
		contents = append(contents, content{fmt.Sprintf("mean of %d spaces", len(r.Spaces)), r.Overall})
	}
	for _, s := range r.Spaces {
		contents = append(contents, content{s.Name, s.Samplers})
	}
	columns := min(panelColumns, len(contents))
	rows := (len(contents) + columns - 1) / columns
	f := figure{
		Width:  columns*(marginLeft+panelWidth+gapRight) + gapRight,
		Height: 30 + rows*(marginTop+panelHeight+gapBottom),
	}
	for i, c := range contents {
		f.Panels = append(f.Panels, newPanel(i%columns, i/columns, c.title, c.samplers, r.Trials))
	}
	for i, s := range contents[0].samplers {
		f.Legend = append(f.Legend, legend{X: marginLeft + 90*i, Y: 16, Colour: colours[i%len(colours)], Name: s.Sampler})
	}
	f.Width = max(f.Width, marginLeft+90*len(f.Legend))
	if err := figureTemplate.Execute(w, f); err != nil {
		return fmt.Errorf("simulate: drawing the figure: %w", err)
	}
	return nil
}

func newPanel(column, row int, title string, samplers []SamplerReport, trials int) panel {
	p := panel{
		X: marginLeft + column*(marginLeft+panelWidth+gapRight), Y: 30 + marginTop + row*(marginTop+panelHeight+gapBottom),
		Title: title,
	}
	low := lowest(samplers)
	x := func(trial int) float64 { return round(panelWidth * float64(trial) / float64(trials)) }
	y := func(fraction float64) float64 {
		return round(panelHeight * (1 - (max(fraction, low)-low)/(1-low)))
	}
	for step := range 6 {
		fraction := low + (1-low)*float64(step)/5
		p.Ticks = append(p.Ticks, tick{
			X1: 0, X2: panelWidth, Y1: y(fraction), Y2: y(fraction),
			TextX: -6, TextY: y(fraction) + 4, Anchor: "end", Label: fmt.Sprintf("%.2f", fraction),
		})
	}
	for _, b := range budgetsFor(trials) {
		p.Ticks = append(p.Ticks, tick{
			X1: x(b), X2: x(b), Y1: 0, Y2: panelHeight,
			TextX: x(b), TextY: panelHeight + 16, Anchor: "middle", Label: fmt.Sprint(b),
		})
	}
	for i, s := range samplers {
		var points strings.Builder
		for t, fraction := range s.Curve {
			fmt.Fprintf(&points, "%g,%g ", x(t+1), y(fraction))
		}
		p.Curves = append(p.Curves, curve{Colour: colours[i%len(colours)], Points: strings.TrimSpace(points.String()), Name: s.Sampler})
	}
	return p
}

// lowest is where a panel's scale begins: below every curve's tenth trial, so
// that the first lucky or unlucky ones do not flatten the rest.
func lowest(samplers []SamplerReport) float64 {
	low := 0.95
	for _, s := range samplers {
		low = min(low, s.Curve[min(9, len(s.Curve)-1)])
	}
	return math.Floor(low*20) / 20
}

func round(pixels float64) float64 { return math.Round(pixels*10) / 10 }
