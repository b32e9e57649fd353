package page

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
)

func TestPlot(t *testing.T) {
	series := []Series{
		{Name: "<first>", Colour: Colours[0], Line: []XY{{0, 1}, {5, 10}, {10, 100}}, Band: []XY{{0, 0.5}, {10, 100}}},
		{Name: "second", Colour: Colours[1], Dots: []Dot{{XY{10, 1}, "red", 3, "a & b"}}},
	}
	panel := Panel{Title: "k < 3", X: Axis{High: 10}, Y: Axis{Low: 1, High: 100, Log: true, Ticks: []Tick{{10, "10 ms"}}}, Series: series, Marks: []float64{5}, MarkName: "here"}
	plot := Plot{Name: "times", Width: 200, Height: 100, Columns: 2, Panels: []Panel{panel, panel, panel}}
	var out bytes.Buffer
	if err := plot.WriteSVG(&out); err != nil {
		t.Fatal(err)
	}
	svg := out.String()
	if err := xml.Unmarshal(out.Bytes(), new(any)); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		// Two columns of 70 + 200 + 24; two rows of 34 + 100 + 40 below a legend of 30.
		`viewBox="0 0 588 378"`, `translate(70 64)`, `translate(364 64)`, `translate(70 238)`,
		`points="0,100 100,50 200,0"`, `points="0,100 200,0" fill`, // half a decade below the scale lies on it
		`<text x="-6" y="50" dy="4" text-anchor="end">10 ms</text>`, `<line x1="100" x2="100" y1="0" y2="100" stroke="#d55e00"`,
		`<circle cx="200" cy="100" r="3" fill="red"><title>a &amp; b</title>`, `k &lt; 3`, `<text x="82" y="20">&lt;first&gt;</text>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	if inline := string(plot.HTML()); !strings.HasPrefix(inline, "<svg viewBox") || strings.Contains(inline, "#ffffff") {
		t.Errorf("%.200s", inline)
	}
}
