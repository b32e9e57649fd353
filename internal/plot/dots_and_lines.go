package plot

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"pawl/internal/collect"
)

// Plot is a picture of panels, one below the other.
type Plot struct {
	// Name says what it is, Text what it shows, to those who do not see it.
	Name, Text string
	// Width and Height are those of a panel's inside, in pixels; 0 means 320 and 200.
	Width, Height float64
	Panels        []Panel
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

// Series is what is drawn in one color: a line, a band round it, and dots. A plot
// with several named series in a panel has a legend.
type Series struct {
	Name, Color string
	Line        []XY
	// Band is a closed outline.
	Band []XY
	Dots []Dot
}

// XY is a place between the axes.
type XY struct{ X, Y float64 }

// Dot is a place that has a title; its color and radius in pixels are its own, Href where it leads, empty for nowhere.
type Dot struct {
	XY
	Color  string
	Radius float64
	Title  string
	Href   string
}

// Space round a panel and the legend's, in pixels.
const (
	plotLeft, plotRight = 64.0, 16.0
	plotTop, plotBottom = 28.0, 42.0
	legendHeight        = 22.0
)

// WriteSVG writes the picture as a file of its own.
func (p Plot) WriteSVG(w io.Writer) error { return p.Picture().WriteSVG(w) }

// Picture draws the panels.
func (p Plot) Picture() Picture {
	p.Width = cmp.Or(p.Width, 320)
	p.Height = cmp.Or(p.Height, 200)
	var out strings.Builder
	width := plotLeft + p.Width + plotRight
	bottom := p.legend(&out, width)
	for _, panel := range p.Panels {
		fmt.Fprintf(&out, "<g transform=\"translate(%g %g)\">\n", plotLeft, bottom+p.above())
		panel.draw(&out, p.Width, p.Height)
		out.WriteString("</g>\n")
		bottom += p.above() + p.Height + plotBottom
	}
	return Picture{Name: p.Name, Text: p.Text, Width: width, Height: bottom, body: out.String()}
}

// above is the room above a panel: a title has a line of its own above the axis' name.
func (p Plot) above() float64 {
	if slices.ContainsFunc(p.Panels, func(panel Panel) bool { return panel.Title != "" && panel.Y.Name != "" }) {
		return plotTop + letters + 5
	}
	return plotTop
}

// legend draws the names of the first panel's series, in as many lines as they take, and returns how high that is.
func (p Plot) legend(out *strings.Builder, width float64) float64 {
	if len(p.Panels) == 0 {
		return 0
	}
	named := slices.DeleteFunc(slices.Clone(p.Panels[0].Series), func(s Series) bool { return s.Name == "" })
	if len(named) < 2 {
		return 0
	}
	x, y := 8.0, 16.0
	for _, s := range named {
		name := fit(s.Name, width-30)
		step := 26 + letter*float64(len([]rune(name)))
		if x > 8 && x+step > width {
			x, y = 8, y+legendHeight
		}
		fmt.Fprintf(out, "<circle cx=\"%g\" cy=\"%g\" r=\"5\" fill=\"%s\"/>", pixel(x+5), y-4.5, s.Color)
		label(out, x+14, y, "start", name)
		x += step
	}
	return y + 8
}

func (p Panel) draw(out *strings.Builder, width, height float64) {
	x := func(value float64) float64 { return pixel(width * p.X.share(value)) }
	y := func(value float64) float64 { return pixel(height * (1 - p.Y.share(value))) }
	outline := func(places []XY) string {
		points := collect.Each(places, func(at XY) string { return fmt.Sprintf("%g,%g", x(at.X), y(at.Y)) })
		return strings.Join(points, " ")
	}
	if p.Title != "" {
		above := -10.0
		if p.Y.Name != "" {
			above -= letters + 5
		}
		label(out, -plotLeft+4, above, "start", fit(p.Title, width+plotLeft), "font-weight=\"bold\"")
	}
	p.Y.beside(out, width, height)
	p.X.below(out, width, height)
	for _, at := range p.Marks {
		fmt.Fprintf(out, "<line x1=\"%[1]g\" x2=\"%[1]g\" y1=\"0\" y2=\"%[2]g\" stroke=\"%[3]s\" "+
			"stroke-dasharray=\"4 3\"><title>%[4]s</title></line>\n", x(at), height, Bad, text(p.MarkName))
	}
	for _, s := range p.Series {
		if len(s.Band) > 0 {
			fmt.Fprintf(out, "<polygon points=\"%s\" fill=\"%s\" fill-opacity=\"0.15\"/>\n", outline(s.Band), s.Color)
		}
		if len(s.Line) > 0 {
			line := fmt.Sprintf("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" points=\"%s\"/>", s.Color,
				outline(s.Line))
			out.WriteString(named(line, s.Name, ""))
		}
		for _, d := range s.Dots {
			shape := fmt.Sprintf("<circle cx=\"%g\" cy=\"%g\" r=\"%g\" fill=\"%s\"/>", x(d.X), y(d.Y), d.Radius, d.Color)
			out.WriteString(named(shape, d.Title, d.Href))
		}
	}
}

// ThinPlaces returns which of the places of a panel of the default size look like all of them, at most so many: where
// several lie on one spot, the first of them stays. The first ones are so those that matter.
func ThinPlaces(places []XY, x, y Axis, most int) []int {
	kept := make([]int, len(places))
	for i := range kept {
		kept[i] = i
	}
	for cell := 1.0; len(kept) > most; cell++ {
		taken := map[[2]int]bool{}
		kept = slices.DeleteFunc(kept, func(i int) bool {
			at := [2]int{int(320 * x.share(places[i].X) / cell), int(200 * y.share(places[i].Y) / cell)}
			before := taken[at]
			taken[at] = true
			return before
		})
	}
	return kept
}
