package plot

import (
	"bytes"
	"encoding/xml"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"pawl/internal/page"
)

// wellFormed fails for what is no XML, and returns the text.
func wellFormed(t *testing.T, p Picture) string {
	t.Helper()
	var out bytes.Buffer
	if err := p.WriteSVG(&out); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(out.Bytes()))
	for {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, out.String())
		}
	}
	for _, number := range []string{"NaN", "Inf"} {
		if strings.Contains(out.String(), number) {
			t.Errorf("%s in\n%s", number, out.String())
		}
	}
	return out.String()
}

func wants(t *testing.T, svg string, parts ...string) {
	t.Helper()
	for _, want := range parts {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
}

func TestPlot(t *testing.T) {
	series := []Series{
		{Name: "<first>", Color: Colors[0], Line: []XY{{0, 1}, {5, 10}, {10, 100}}, Band: []XY{{0, 0.5}, {10, 100}}},
		{
			Name:  "second",
			Color: Colors[1],
			Dots:  []Dot{{XY: XY{10, 1}, Color: "red", Radius: 3, Title: "a & b", Href: "/studies/1/trials/2"}},
		},
	}
	panel := Panel{
		Title:    "k < 3",
		X:        Axis{High: 10},
		Y:        Axis{Low: 1, High: 100, Log: true, Ticks: []Tick{{10, "10 ms"}}},
		Series:   series,
		Marks:    []float64{5},
		MarkName: "here",
	}
	svg := wellFormed(t,
		Plot{
			Name:   "times",
			Text:   "It falls.",
			Width:  200,
			Height: 100,
			Panels: []Panel{panel, panel},
		}.Picture())
	wants(t, svg,
		// 64 + 200 + 16; two of 28 + 100 + 42 below a legend of 24.
		`viewBox="0 0 280 364"`, `translate(64 52)`, `translate(64 222)`,
		`points="0,100 100,50 200,0"`, `points="0,100 200,0" fill`, // half a decade below the scale lies on it
		`<text x="-6" y="54.5" text-anchor="end">10 ms</text>`, `<line x1="100" x2="100" y1="0" y2="100" stroke="#d55e00"`,
		`<a href="/studies/1/trials/2" tabindex="-1"><circle cx="200" cy="100" r="3" fill="red"/><title>a &amp; b</title></a>`,
		`k &lt; 3`, `>&lt;first&gt;</text>`, `aria-label="times. It falls."`, `prefers-color-scheme:dark`)
	inline := string(Plot{Name: "times", Panels: []Panel{panel}}.Picture().HTML())
	if !strings.HasPrefix(inline, "<svg viewBox") || strings.Contains(inline, "<style") {
		t.Errorf("%.200s", inline)
	}
}

func TestTextFromOutsideStaysText(t *testing.T) {
	const evil = "\"><script>alert(1)</script>\u202e\x1b[31m&"
	for name, picture := range map[string]Picture{
		"plot": Plot{
			Name: evil,
			Text: evil,
			Panels: []Panel{{
				Title:    evil,
				X:        Categories(evil, []string{evil}),
				Y:        Axis{Name: evil, High: 1},
				Marks:    []float64{0},
				MarkName: evil,
				Series:   []Series{{Name: evil, Line: []XY{{0, 0}}}, {Name: evil, Dots: []Dot{{Title: evil, Href: evil}}}},
			}},
		}.Picture(),
		"bars": Bars{
			Name: evil,
			X:    Axis{Name: evil, High: 1},
			Rows: []Bar{{Label: evil, Value: evil, Title: evil, Href: evil}},
		}.Picture(),
		"heat": Heat{
			Name:    evil,
			XName:   evil,
			YName:   evil,
			XValues: []string{evil},
			YValues: []string{evil},
			Cells:   []Cell{{Value: 1, Label: evil, Title: evil, Href: evil}},
		}.Picture(),
		"parallel": Parallel{
			Name:  evil,
			Axes:  []Axis{Categories(evil, []string{evil}), Counts(evil, 3)},
			Lines: []Thread{{At: []float64{0, 1}, Title: evil, Href: evil}},
		}.Picture(),
	} {
		svg := wellFormed(t, picture)
		if strings.Contains(svg, "<script") || strings.ContainsAny(svg, "\u202e\x1b") || !strings.Contains(svg, `\u202e`) {
			t.Errorf("%s:\n%s", name, svg)
		}
	}
	if spark := (Sparkline{Name: evil, Values: []float64{1, 2}}).HTML(); strings.Contains(string(spark), "<script") {
		t.Error(spark)
	}
}

func TestTicksAreRoundAndFew(t *testing.T) {
	plain := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	for _, c := range []struct {
		axis Axis
		want string
	}{
		{Linear("", plain, 0, 10), "0 2 4 6 8 10"},
		{Linear("", plain, 0.91, 1.32), "0.9 1 1.1 1.2 1.3"},
		{Linear("", plain, 1000, 1001), "1000 1000.2 1000.4 1000.6 1000.8 1001"},
		{Counts("", 60), "0 10 20 30 40 50 60"},
		{Counts("", 3), "0 1 2 3"},
		{Counts("", 10000), "0 2000 4000 6000 8000 10000"},
		{Times("", 0.7, 3.1), "1 ms 1.5 ms 2 ms 2.5 ms 3 ms"},
		{Times("", 0.01, 5), "10 µs 100 µs 1 ms"},
		{Times("", 0.01, 0.9), "10 µs 20 µs 50 µs 100 µs 200 µs 500 µs 1 ms"},
		{Times("", 1, 1), "980 µs 990 µs 1 ms 1.01 ms 1.02 ms"},
		{Bytes("", 15206, 70000), "20 KiB 40 KiB 60 KiB"},
		{Bytes("", 15206, 15990), "15 KiB 15.2 KiB 15.4 KiB 15.6 KiB"},
		{Linear("", plain, 5), "4.8 4.9 5 5.1 5.2"},
		{Linear("", plain, math.NaN(), math.Inf(1)), "0 0.2 0.4 0.6 0.8 1"},
	} {
		var labels []string
		for _, tick := range c.axis.Ticks {
			labels = append(labels, tick.Label)
		}
		got := strings.Join(labels, " ")
		if c.want != got {
			t.Errorf("%v to %v: %s, want %s", c.axis.Low, c.axis.High, got, c.want)
		}
		if len(labels) > 10 {
			t.Errorf("%d ticks: %s", len(labels), got)
		}
	}
}

func TestBars(t *testing.T) {
	svg := wellFormed(t, Bars{Name: "finalists", X: Axis{High: 100}, Rows: []Bar{
		{Label: "default", Value: "3 ms", From: 50, To: 50, Whisker: &[2]float64{25, 75}, Color: Best},
		{Label: "BLOCK", Value: "12 %", From: 0, To: 100, Color: Best},
		{Label: "open", From: 10, To: 10, Whisker: &[2]float64{0, math.Inf(1)}, Color: Best},
	}}.Picture())
	wants(t, svg, `<circle cx="188" cy="28" r="5"`, `M94 22V34M282 22V34M94 28H282`,
		`<rect x="0" y="64" width="376" height="12"`)
	if strings.Count(svg, "<path") != 1 {
		t.Error("an interval without ends was drawn")
	}
}

// A label at an end of the axis is moved into the picture.
func TestLabelsStayInThePicture(t *testing.T) {
	ticks := []Tick{{0, "250 µs"}, {50, "300 µs"}, {100, "350 µs"}}
	svg := wellFormed(t, Bars{Name: "n", X: Axis{High: 100, Ticks: ticks},
		Rows: []Bar{{Label: "default", Color: Best}}}.Picture())
	wants(t, svg, `<text x="12.7" y="63" text-anchor="middle">250 µs`,
		`<text x="188" y="63" text-anchor="middle">300 µs`,
		`<text x="363.3" y="63" text-anchor="middle">350 µs`)
}

func TestHeatIsStrongestWhereItIsFastest(t *testing.T) {
	svg := wellFormed(t, Heat{Name: "two", XName: "A", YName: "B", XValues: []string{"1", "2"}, YValues: []string{"x"},
		Cells: []Cell{{X: 0, Value: 1, Label: "1 ms"}, {X: 1, Value: 8, Label: "8 ms"}}}.Picture())
	wants(t, svg, `<rect x="1" y="1" width="150" height="24" fill="#00548c"/>`,
		`<rect x="153" y="1" width="150" height="24" fill="#dee8f0"/>`, `fill="#ffffff">1 ms`)
}

func TestParallel(t *testing.T) {
	axes := []Axis{Categories("A", []string{"1", "2"}), {Name: "time", Low: 1, High: 100, Log: true}}
	svg := wellFormed(t,
		Parallel{
			Name:  "points",
			Axes:  axes,
			Lines: []Thread{{At: []float64{0, 10}, Color: Best, Title: "trial 3"}},
		}.Picture())
	wants(t, svg, `d="M0 165L296 110"`, `<title>trial 3</title>`, `viewBox="0 0 400 280"`)
}

func TestThinKeepsTheFirstOnEachSpot(t *testing.T) {
	x, y := Counts("", 10000), Axis{High: 1}
	var places []XY
	for i := range 10000 {
		places = append(places, XY{float64(i), float64(i%7) / 7})
	}
	thin := ThinPlaces(places, x, y, 500)
	if len(thin) > 500 || len(thin) < 100 || thin[0] != 0 {
		t.Errorf("%d dots, the first %d", len(thin), thin[0])
	}
	if all := ThinPlaces(places[:500], x, y, 500); len(all) != 500 {
		t.Errorf("%d of 500 dots that were few enough", len(all))
	}
}

func TestNothingIsNoPicture(t *testing.T) {
	for _, html := range []template.HTML{Bars{}.Picture().HTML(), Heat{}.Picture().HTML(), Parallel{}.Picture().HTML(),
		Sparkline{Values: []float64{1}}.HTML()} {
		if html != "" {
			t.Error(html)
		}
	}
	wellFormed(t, Plot{Name: "empty", Panels: []Panel{{X: Linear("", page.Milliseconds), Y: Times("")}}}.Picture())
}
