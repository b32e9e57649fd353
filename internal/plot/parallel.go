package plot

import (
	"fmt"
	"strings"
)

// Parallel shows points of many parameters: an axis for each, and a line through all of them for each point.
type Parallel struct {
	// Name says what it is, Text what it shows, to those who do not see it.
	Name, Text string
	Axes       []Axis
	// Lines are drawn in their order: what matters comes last.
	Lines []Thread
}

// Thread is a line through all axes.
type Thread struct {
	// At has a value for each axis.
	At    []float64
	Color string
	// Faint says that it is one of many.
	Faint       bool
	Title, Href string
}

// Picture draws the axes and the lines. It gets wider with the number of axes.
func (p Parallel) Picture() Picture {
	if len(p.Axes) < 2 || len(p.Lines) == 0 {
		return Picture{Name: p.Name}
	}
	const left, right, top, height, bottom = 44.0, 60.0, 44.0, 220.0, 16.0
	step := max(296/float64(len(p.Axes)-1), 92)
	var out strings.Builder
	fmt.Fprintf(&out, "<g transform=\"translate(%g %g)\">\n", left, top)
	for _, line := range p.Lines {
		var places []string
		for i, at := range line.At {
			y := height * (1 - p.Axes[i].share(at))
			places = append(places, fmt.Sprintf("%g %g", pixel(step*float64(i)), pixel(y)))
		}
		stroke := "stroke-width=\"2\""
		if line.Faint {
			stroke = "stroke-opacity=\"0.35\""
		}
		out.WriteString(named(fmt.Sprintf("<path d=\"M%s\" fill=\"none\" stroke=\"%s\" %s/>", strings.Join(places, "L"),
			line.Color, stroke), line.Title, line.Href))
	}
	for i, a := range p.Axes {
		x := pixel(step * float64(i))
		fmt.Fprintf(&out, "<line x1=\"%[1]g\" x2=\"%[1]g\" y1=\"0\" y2=\"%[2]g\" stroke=\"currentColor\"/>\n", x, height)
		y := -14.0
		if i%2 == 1 {
			y -= letters + 3 // neighbors' names do not touch
		}
		anchor, at := "middle", x
		switch i { // the outer ones stay in the picture
		case 0:
			anchor, at = "start", x-left+4
		case len(p.Axes) - 1:
			anchor, at = "end", x+right-4
		}
		label(&out, at, y, anchor, fit(a.Name, 1.8*step), "font-weight=\"bold\"")
		free := height + letters
		for _, t := range a.Ticks {
			at := height * (1 - a.share(t.At))
			if at > free-letters {
				continue
			}
			free = at
			label(&out, x+5, at+4.5, "start", fit(t.Label, step-14), "font-size=\"11\"")
		}
	}
	out.WriteString("</g>\n")
	return Picture{
		Name:   p.Name,
		Text:   p.Text,
		Width:  left + step*float64(len(p.Axes)-1) + right,
		Height: top + height + bottom,
		body:   out.String(),
	}
}
