// Package plot draws every picture of pawl's, as SVG that needs nothing from elsewhere:
// curves and dots between axes (Plot), bars and whiskers (Bars), grids of two parameters
// (Heat), parallel coordinates (Parallel) and lines of a word's size (Sparkline).
//
//  1. Axes choose their own ticks: round numbers, with units, as many as fit.
//  2. A picture is about 400 pixels wide with letters of 13, so that it can be read on a
//     telephone and stands beside others on a screen. One that must be wider says so by its
//     Width, and its page lets it scroll.
//  3. Letters and lines take the color of the text around them, so that one picture suits
//     a light and a dark page. As a file of its own it brings both with it.
//  4. Every picture has a name and a sentence for those who do not see it; what its dots
//     say must stand on the page too.
//  5. Text may come from outside and is escaped here, once.
//
// Nothing is computed or decided here.
package plot

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"pawl/internal/escape"
)

// Picture is what was drawn.
type Picture struct {
	// Name says what it is, Text what it shows, to those who do not see it.
	Name, Text string
	// Width and Height are in pixels.
	Width, Height float64
	body          string
}

// letters is the size of text in pixels, and letter about how wide one is.
const letters, letter = 13.0, 6.9

// page colors of a file that stands alone.
const aloneStyle = "svg{color:#1b1f24;background:#ffffff}@media " +
	"(prefers-color-scheme:dark){svg{color:#e6e9ed;background:#15181c}" +
	"[fill=\"#0072b2\"]{fill:#4aa8e8}[stroke=\"#0072b2\"]{stroke:#4aa8e8}}"

// WriteSVG writes the picture as a file of its own, for light and dark surroundings.
func (p Picture) WriteSVG(w io.Writer) error {
	_, err := fmt.Fprintf(w,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" %s width=\"%g\" height=\"%g\">\n<style>%s</style>\n%s</svg>\n",
		p.attributes(), p.Width, p.Height, aloneStyle, p.inside())
	return err
}

// HTML returns the picture for the inside of a page, whose text's color it takes.
func (p Picture) HTML() template.HTML {
	if p.body == "" {
		return ""
	}
	return template.HTML(fmt.Sprintf("<svg %s width=\"%g\" height=\"%g\">\n%s</svg>", p.attributes(), p.Width, p.Height,
		p.inside()))
}

// attributes make the picture one thing with a name for a screen reader: what its parts are called is for the pointer.
func (p Picture) attributes() string {
	name := p.Name
	if p.Text != "" {
		name += ". " + p.Text
	}
	role := "img"
	if strings.Contains(p.body, "<a ") {
		role = "group" // an image has nothing to click in it
	}
	return fmt.Sprintf("viewBox=\"0 0 %g %g\" role=\"%s\" aria-label=\"%s\" font-family=\"system-ui, sans-serif\" "+
		"font-size=\"%g\"", p.Width, p.Height, role, text(name), letters)
}

func (p Picture) inside() string {
	return "<g fill=\"currentColor\" aria-hidden=\"true\">\n" + p.body + "</g>\n"
}

func text(s string) string { return template.HTMLEscapeString(escape.Line(s)) }

func pixel(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return math.Round(10*x) / 10
}

func fit(s string, width float64) string {
	runes := []rune(s)
	most := max(int(width/letter), 1)
	if len(runes) <= most {
		return s
	}
	return string(runes[:max(most-1, 0)]) + "…"
}

// named wraps a shape in what it is called and where it leads.
func named(shape, title, href string) string {
	if title != "" {
		title = "<title>" + text(title) + "</title>"
	}
	switch {
	case href != "":
		return "<a href=\"" + text(href) + "\" tabindex=\"-1\">" + shape + title + "</a>\n"
	case title != "":
		return "<g>" + shape + title + "</g>\n"
	}
	return shape + "\n"
}

// label draws a line of text; anchor is start, middle or end.
func label(out *strings.Builder, x, y float64, anchor, s string, more ...string) {
	at := ""
	if anchor != "start" {
		at = " text-anchor=\"" + anchor + "\""
	}
	fmt.Fprintf(out, "<text x=\"%g\" y=\"%g\"%s%s>%s</text>\n", pixel(x), pixel(y), at,
		strings.Join(append([]string{""}, more...), " "), text(s))
}

const grid = "stroke=\"#888888\" stroke-opacity=\"0.35\""
