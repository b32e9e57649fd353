package plot

import (
	"fmt"
	"math"
	"strings"
)

// Bars is a list of bars on one scale, each below its name, so that names may be long.
type Bars struct {
	// Name says what it is, Text what it shows, to those who do not see it.
	Name, Text string
	X          Axis
	Rows       []Bar
}

// Bar is a bar between two values, an interval as a whisker, or both.
type Bar struct {
	// Label names it and Value says what it is, in words.
	Label, Value string
	// From and To are its ends; the same value is a dot.
	From, To float64
	// Whisker is an interval; nil, or one without ends, is none.
	Whisker *[2]float64
	Color   string
	// Title is what it is called in full, Href where it leads; empty for nothing.
	Title, Href string
}

const (
	barsLeft, barsWidth = 12.0, 376.0
	barRow              = 42.0
)

// Picture draws the bars.
func (b Bars) Picture() Picture {
	if len(b.Rows) == 0 {
		return Picture{Name: b.Name}
	}
	var out strings.Builder
	height := barRow*float64(len(b.Rows)) + 4
	x := func(value float64) float64 { return pixel(barsWidth * b.X.share(value)) }
	fmt.Fprintf(&out, "<g transform=\"translate(%g 0)\">\n", barsLeft)
	b.X.below(&out, barsWidth, height)
	for i, row := range b.Rows {
		top := barRow * float64(i)
		value := fit(row.Value, barsWidth*0.6)
		label(&out, 0, top+15, "start", fit(row.Label, barsWidth-letter*float64(len([]rune(value))+2)))
		label(&out, barsWidth, top+15, "end", value)
		out.WriteString(named(row.shape(x, top+22), row.Title, row.Href))
	}
	out.WriteString("</g>\n")
	return Picture{
		Name:   b.Name,
		Text:   b.Text,
		Width:  barsWidth + 2*barsLeft,
		Height: height + plotBottom,
		body:   out.String(),
	}
}

func (r Bar) shape(x func(float64) float64, top float64) string {
	const thickness = 12.0
	left, right := min(x(r.From), x(r.To)), max(x(r.From), x(r.To))
	shape := fmt.Sprintf("<circle cx=\"%g\" cy=\"%g\" r=\"5\" fill=\"%s\"/>", left, top+thickness/2, r.Color)
	if r.From != r.To {
		shape = fmt.Sprintf("<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" rx=\"2\" fill=\"%s\"/>", left, top,
			pixel(max(right-left, 1)), thickness, r.Color)
	}
	if w := r.Whisker; w != nil && !math.IsInf(w[1]-w[0], 0) && !math.IsNaN(w[1]-w[0]) {
		color := r.Color
		if r.From != r.To {
			color = "currentColor"
		}
		shape += fmt.Sprintf("<path d=\"M%[1]g %[3]gV%[4]gM%[2]g %[3]gV%[4]gM%[1]g %[5]gH%[2]g\" stroke=\"%[6]s\" "+
			"stroke-width=\"1.6\" fill=\"none\"/>", x(w[0]), x(w[1]), top, top+thickness, top+thickness/2, color)
	}
	return shape
}
