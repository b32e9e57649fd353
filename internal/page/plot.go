package page

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
)

// Colours are those of Okabe and Ito, which people who do not see all colours can
// tell apart.
var Colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"}

// Plot is a picture of panels, in SVG that needs nothing from elsewhere.
type Plot struct {
	// Name says what it shows to those who do not see it.
	Name string
	// Width and Height are those of a panel's inside, in pixels.
	Width, Height float64
	// Columns is how many panels stand side by side; 0 means 1.
	Columns int
	Panels  []Panel
}

// Panel is a pair of axes and what is drawn between them.
type Panel struct {
	Title  string
	X, Y   Axis
	Series []Series
	// Marks are values of X with a dashed line, MarkName what that means.
	Marks    []float64
	MarkName string
}

// Axis is a scale from Low to High. What lies below Low is drawn there.
type Axis struct {
	Low, High float64
	Log       bool
	Ticks     []Tick
}

// Tick is a value with a line and a label.
type Tick struct {
	At    float64
	Label string
}

// Series is what is drawn in one colour: a line, a band round it, and dots. A plot
// with several series in a panel has a legend.
type Series struct {
	Name, Colour string
	Line         []XY
	// Band is a closed outline.
	Band []XY
	Dots []Dot
}

// XY is a place between the axes.
type XY struct{ X, Y float64 }

// Dot is a place that has a title; its colour and radius in pixels are its own.
type Dot struct {
	XY
	Colour string
	Radius float64
	Title  string
}

// Space round a panel and the legend's, in pixels.
const (
	plotLeft, plotRight      = 70.0, 24.0
	plotTop, plotBottom      = 34.0, 40.0
	legendHeight, legendStep = 30.0, 90.0
)

// WriteSVG writes the picture as a file of its own.
func (p Plot) WriteSVG(w io.Writer) error {
	_, err := fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" %s width=\"%[2]g\" height=\"%[3]g\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n%[4]s</svg>\n",
		p.attributes(), p.width(), p.height(), p.inside())
	return err
}

// HTML returns the picture for the inside of a page.
func (p Plot) HTML() template.HTML {
	return template.HTML(fmt.Sprintf("<svg %s>\n%s</svg>", p.attributes(), p.inside()))
}

func (p Plot) attributes() string {
	return fmt.Sprintf("viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"%s\" font-family=\"sans-serif\" font-size=\"11\"", p.width(), p.height(), template.HTMLEscapeString(p.Name))
}

func (p Plot) columns() int { return min(max(p.Columns, 1), len(p.Panels)) }

func (p Plot) legend() []Series {
	if len(p.Panels) == 0 || len(p.Panels[0].Series) < 2 {
		return nil
	}
	return p.Panels[0].Series
}

// above is what stands above the panels.
func (p Plot) above() float64 {
	if p.legend() == nil {
		return 0
	}
	return legendHeight
}

func (p Plot) width() float64 {
	panels := float64(p.columns()) * (plotLeft + p.Width + plotRight)
	return max(panels, plotLeft+legendStep*float64(len(p.legend())))
}

func (p Plot) height() float64 {
	rows := math.Ceil(float64(len(p.Panels)) / float64(max(p.columns(), 1)))
	return p.above() + rows*(plotTop+p.Height+plotBottom)
}

func (p Plot) inside() string {
	var out bytes.Buffer
	for i, s := range p.legend() {
		fmt.Fprintf(&out, "<circle cx=\"%g\" cy=\"16\" r=\"5\" fill=\"%s\"/><text x=\"%g\" y=\"20\">%s</text>\n",
			plotLeft+legendStep*float64(i), s.Colour, plotLeft+legendStep*float64(i)+12, template.HTMLEscapeString(s.Name))
	}
	for i, panel := range p.Panels {
		fmt.Fprintf(&out, "<g transform=\"translate(%g %g)\">\n", plotLeft+float64(i%p.columns())*(plotLeft+p.Width+plotRight),
			p.above()+plotTop+float64(i/p.columns())*(plotTop+p.Height+plotBottom))
		panel.draw(&out, p.Width, p.Height)
		out.WriteString("</g>\n")
	}
	return out.String()
}

func (p Panel) draw(out io.Writer, width, height float64) {
	x := func(value float64) float64 { return pixel(width * p.X.share(value)) }
	y := func(value float64) float64 { return pixel(height * (1 - p.Y.share(value))) }
	outline := func(places []XY) string {
		var points []string
		for _, at := range places {
			points = append(points, fmt.Sprintf("%g,%g", x(at.X), y(at.Y)))
		}
		return strings.Join(points, " ")
	}
	const grid = "stroke=\"#888888\" stroke-opacity=\"0.3\""
	fmt.Fprintf(out, "<text x=\"0\" y=\"-12\" font-weight=\"bold\">%s</text>\n", template.HTMLEscapeString(p.Title))
	for _, t := range p.Y.Ticks {
		fmt.Fprintf(out, "<line x1=\"0\" x2=\"%g\" y1=\"%[2]g\" y2=\"%[2]g\" %[3]s/><text x=\"-6\" y=\"%[2]g\" dy=\"4\" text-anchor=\"end\">%[4]s</text>\n", width, y(t.At), grid, template.HTMLEscapeString(t.Label))
	}
	for _, t := range p.X.Ticks {
		fmt.Fprintf(out, "<line x1=\"%[2]g\" x2=\"%[2]g\" y1=\"0\" y2=\"%[1]g\" %[3]s/><text x=\"%[2]g\" y=\"%[1]g\" dy=\"16\" text-anchor=\"middle\">%[4]s</text>\n", height, x(t.At), grid, template.HTMLEscapeString(t.Label))
	}
	for _, mark := range p.Marks {
		fmt.Fprintf(out, "<line x1=\"%[1]g\" x2=\"%[1]g\" y1=\"0\" y2=\"%[2]g\" stroke=\"%[3]s\" stroke-dasharray=\"4 3\"><title>%[4]s</title></line>\n", x(mark), height, Colours[1], template.HTMLEscapeString(p.MarkName))
	}
	for _, s := range p.Series {
		if len(s.Band) > 0 {
			fmt.Fprintf(out, "<polygon points=\"%s\" fill=\"%s\" fill-opacity=\"0.15\"/>\n", outline(s.Band), s.Colour)
		}
		fmt.Fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" points=\"%s\"><title>%s</title></polyline>\n", s.Colour, outline(s.Line), template.HTMLEscapeString(s.Name))
		for _, d := range s.Dots {
			fmt.Fprintf(out, "<circle cx=\"%g\" cy=\"%g\" r=\"%g\" fill=\"%s\"><title>%s</title></circle>\n", x(d.X), y(d.Y), d.Radius, d.Colour, template.HTMLEscapeString(d.Title))
		}
	}
}

// share is where a value lies on the axis: 0 at Low and 1 at High.
func (a Axis) share(value float64) float64 {
	value = max(value, a.Low)
	if a.Log {
		return math.Log(value/a.Low) / math.Log(a.High/a.Low)
	}
	return (value - a.Low) / (a.High - a.Low)
}

func pixel(x float64) float64 { return math.Round(10*x) / 10 }
