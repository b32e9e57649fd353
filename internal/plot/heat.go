package plot

import (
	"fmt"
	"math"
	"strings"

	"pawl/internal/collect"
)

// Heat is a grid of two parameters' values, with a color per cell: the lower its value, the stronger.
type Heat struct {
	// Name says what it is, Text what it shows, to those who do not see it.
	Name, Text string
	// XName and YName are the parameters, XValues and YValues their values.
	XName, YName     string
	XValues, YValues []string
	// Cells are those with a value; the others stay empty.
	Cells []Cell
}

// Cell is a value at a column X and a row Y.
type Cell struct {
	X, Y  int
	Value float64
	// Label stands in the cell where there is room; Title and Href are as a dot's.
	Label, Title, Href string
}

// Picture draws the grid.
func (h Heat) Picture() Picture {
	if len(h.Cells) == 0 {
		return Picture{Name: h.Name}
	}
	const left, inside, most = 84.0, 304.0, 520.0
	var out strings.Builder
	width, top := inside/float64(len(h.XValues)), 26.0
	cell := min(26, most/float64(len(h.YValues)))
	height := cell * float64(len(h.YValues))
	label(&out, 4, 16, "start", fit(h.YName, 180), "fill-opacity=\"0.75\"")
	fmt.Fprintf(&out, "<g transform=\"translate(%g %g)\">\n", left, top)
	free := 0.0
	for i, name := range h.YValues {
		if y := cell * (float64(i) + 0.5); y >= free {
			label(&out, -6, y+4.5, "end", fit(name, left-10))
			free = y + letters
		}
	}
	Categories(h.XName, h.XValues).below(&out, inside, height)
	values := collect.Each(h.Cells, func(c Cell) float64 { return math.Log(c.Value) })
	var scale Axis
	scale.Low, scale.High = ends(values)
	for i, c := range h.Cells {
		background, ink := shade(scale.share(values[i]))
		shape := fmt.Sprintf("<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"%s\"/>",
			pixel(width*float64(c.X)+1), pixel(cell*float64(c.Y)+1), pixel(max(width-2, 1)), pixel(max(cell-2, 1)), background)
		if s := c.Label; letter*float64(len([]rune(s)))*0.9 < width-4 && cell >= letters {
			shape += fmt.Sprintf("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\" font-size=\"12\" fill=\"%s\">%s</text>",
				pixel(width*(float64(c.X)+0.5)), pixel(cell*(float64(c.Y)+0.5)+4.5), ink, text(s))
		}
		out.WriteString(named(shape, c.Title, c.Href))
	}
	out.WriteString("</g>\n")
	return Picture{
		Name:   h.Name,
		Text:   h.Text,
		Width:  left + inside + 12,
		Height: top + height + plotBottom,
		body:   out.String(),
	}
}

// shade is the color of a share between 0 (strong) and 1 (pale), and of text on it: both
// the same on light and dark pages.
func shade(share float64) (background, ink string) {
	strong, pale := [3]float64{0, 84, 140}, [3]float64{222, 232, 240}
	var mixed [3]int
	for i := range mixed {
		mixed[i] = int(math.Round(strong[i] + share*(pale[i]-strong[i])))
	}
	ink = "#ffffff"
	if share > 0.45 {
		ink = "#10161c"
	}
	return fmt.Sprintf("#%02x%02x%02x", mixed[0], mixed[1], mixed[2]), ink
}
