package plot

import (
	"fmt"
	"strings"

	"pawl/internal/page"
)

// Sheet is pictures in two columns under a title, and lines of text below them.
type Sheet struct {
	Name  string
	Parts []Picture
	Lines []string
}

// Picture draws the sheet.
func (s Sheet) Picture() Picture {
	const column, edge, step = 400.0, 12.0, letters + 6
	var out strings.Builder
	label(&out, edge, 24, "start", fit(s.Name, 2*column-2*edge), "font-weight=\"bold\"")
	bottom := [2]float64{56, 56}
	for _, p := range s.Parts {
		at := 0
		if bottom[1] < bottom[0] {
			at = 1
		}
		label(&out, column*float64(at)+edge, bottom[at], "start", p.Name, "font-weight=\"bold\"")
		fmt.Fprintf(&out, "<g transform=\"translate(%g %g)\">\n%s</g>\n", column*float64(at), bottom[at]+8, p.body)
		bottom[at] += p.Height + 2*step
	}
	y, most := max(bottom[0], bottom[1]), (2*column-2*edge)/letter
	for _, line := range s.Lines {
		for _, part := range page.Wrap(line, int(most)) {
			label(&out, edge, y, "start", part)
			y += step
		}
		y += step / 3
	}
	return Picture{Name: s.Name, Text: strings.Join(s.Lines, " "), Width: 2 * column, Height: y, body: out.String()}
}
