package plot

import (
	"fmt"
	"html/template"
	"strings"
)

// Sparkline is a line of a word's size: a trend, its last value marked.
type Sparkline struct {
	// Name says what it shows, to those who do not see it.
	Name   string
	Values []float64
}

// HTML returns the picture for the inside of a line; fewer than two values have none.
func (s Sparkline) HTML() template.HTML {
	if len(s.Values) < 2 {
		return ""
	}
	const width, height, edge = 96.0, 22.0, 4.0
	a := Axis{}
	a.Low, a.High = ends(s.Values)
	if a.High == a.Low {
		a.Low, a.High = a.Low-1, a.High+1
	}
	var points []string
	var x, y float64
	for i, v := range s.Values {
		x = pixel(edge + (width-2*edge)*float64(i)/float64(len(s.Values)-1))
		y = pixel(height - edge - (height-2*edge)*a.share(v))
		points = append(points, fmt.Sprintf("%g,%g", x, y))
	}
	return template.HTML(fmt.Sprintf("<svg class=\"spark\" viewBox=\"0 0 %g %g\" width=\"%[1]g\" height=\"%[2]g\" "+
		"role=\"img\" aria-label=\"%s\"><polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" points=\"%s\"/><circle "+
		"cx=\"%g\" cy=\"%g\" r=\"3\" fill=\"%[4]s\"/></svg>",
		width, height, text(s.Name), Best, strings.Join(points, " "), x, y))
}
