package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/internal/page"
)

// Axis is a scale from Low to High. What lies outside is drawn at its end.
type Axis struct {
	// Name says what it is, with its unit where its ticks have none.
	Name      string
	Low, High float64
	Log       bool
	Ticks     []Tick
}

// Tick is a value with a line and a label.
type Tick struct {
	At    float64
	Label string
}

// Linear returns an axis over values, with room at its ends and about five ticks at round
// numbers that a function writes. Values that are not finite do not count.
func Linear(name string, write func(float64) string, values ...float64) Axis {
	low, high := ends(values)
	switch {
	case high == 0 && low == 0:
		high = 1
	case high == low:
		low, high = low-0.05*math.Abs(low), high+0.05*math.Abs(high)
	}
	room := 0.04 * (high - low)
	if low < 0 || low > room { // an axis of times does not begin below 0
		low -= room
	}
	return Axis{Name: name, High: high + room}.From(low, write)
}

// From returns the axis with another lower end, such as 0.
func (a Axis) From(low float64, write func(float64) string) Axis {
	a.Low = low
	a.Ticks = a.round(write)
	return a
}

// Log returns a logarithmic axis over values, which are positive.
func Log(name string, write func(float64) string, values ...float64) Axis {
	low, high := ends(slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v <= 0 }))
	if low <= 0 {
		low, high = 1, 1
	}
	if high/low < 1.02 {
		low, high = low/1.02, high*1.02
	}
	room := math.Pow(high/low, 0.05)
	a := Axis{Name: name, Low: low / room, High: high * room, Log: true}
	if a.High/a.Low < 12 {
		a.Ticks = a.round(write) // round numbers of less than a decade
		return a
	}
	steps := []float64{1, 2, 5}
	if decades := math.Log10(a.High / a.Low); decades > 2.5 {
		steps = []float64{1}
	}
	for exponent := math.Floor(math.Log10(a.Low)); exponent <= math.Log10(a.High); exponent++ {
		for _, step := range steps {
			if at := step * math.Pow(10, exponent); at >= a.Low && at <= a.High {
				a.Ticks = append(a.Ticks, Tick{at, write(at)})
			}
		}
	}
	return a
}

// Times is a logarithmic axis of milliseconds.
func Times(name string, ms ...float64) Axis { return Log(name, page.Milliseconds, ms...) }

// Bytes is a logarithmic axis of sizes, with ticks at round numbers of the greatest one's unit.
func Bytes(name string, sizes ...float64) Axis {
	unit, scaled := 1.0, slices.Clone(sizes)
	for _, high := ends(sizes); high >= 1024*unit; {
		unit *= 1024
	}
	for i := range scaled {
		scaled[i] /= unit
	}
	a := Log(name, func(x float64) string { return page.Bytes(x * unit) }, scaled...)
	a.Low, a.High = a.Low*unit, a.High*unit
	for i := range a.Ticks {
		a.Ticks[i].At *= unit
	}
	return a
}

// Counts is an axis of whole numbers from 0.
func Counts(name string, highest int) Axis {
	a := Axis{Name: name, High: float64(max(highest, 1))}
	a.Ticks = slices.DeleteFunc(a.round(func(x float64) string { return fmt.Sprintf("%.0f", x) }),
		func(t Tick) bool { return t.At != math.Trunc(t.At) })
	return a
}

// Categories is an axis of names: the first lies at 0, the next at 1.
func Categories(name string, names []string) Axis {
	a := Axis{Name: name, Low: -0.5, High: float64(len(names)) - 0.5}
	for i, n := range names {
		a.Ticks = append(a.Ticks, Tick{float64(i), n})
	}
	return a
}

// round returns ticks at 1, 2 or 5 times a power of ten.
func (a Axis) round(write func(float64) string) []Tick {
	const most = 6 // of them
	span := a.High - a.Low
	if span <= 0 || math.IsInf(span, 0) || math.IsNaN(span) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10(span/most)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if span/(factor*step) <= most {
			step *= factor
			break
		}
	}
	var ticks []Tick
	for i := math.Ceil(a.Low / step); i*step <= a.High*(1+1e-12); i++ {
		label := "0" // whatever the unit
		if i != 0 {
			label = write(i * step)
		}
		ticks = append(ticks, Tick{i * step, label})
	}
	return ticks
}

// share is where a value lies on the axis: 0 at Low and 1 at High.
func (a Axis) share(value float64) float64 {
	share := (value - a.Low) / (a.High - a.Low)
	if a.Log {
		share = math.Log(max(value, a.Low)/a.Low) / math.Log(a.High/a.Low)
	}
	if math.IsNaN(share) {
		return 0
	}
	return min(max(share, 0), 1)
}

// below draws the axis below a panel: lines across it, and those of the labels that do not touch each other.
func (a Axis) below(out *strings.Builder, width, height float64) {
	free := math.Inf(-1)
	for _, t := range a.Ticks {
		x := width * a.share(t.At)
		s := fit(t.Label, width/3)
		half := letter * float64(len([]rune(s))) / 2
		if x-half < free {
			continue
		}
		free = x + half + letter
		fmt.Fprintf(out, "<line x1=\"%[1]g\" x2=\"%[1]g\" y1=\"0\" y2=\"%[2]g\" %[3]s/>\n", pixel(x), height, grid)
		// The first and the last one stay in the picture, also with wide letters.
		label(out, max(half-8, min(x, width+8-half)), height+17, "middle", s)
	}
	if a.Name != "" {
		label(out, width, height+34, "end", a.Name, "fill-opacity=\"0.75\"")
	}
}

// beside draws the axis to the left of a panel.
func (a Axis) beside(out *strings.Builder, width, height float64) {
	free := math.Inf(1)
	for _, t := range a.Ticks {
		y := height * (1 - a.share(t.At))
		if y > free {
			continue
		}
		free = y - letters
		fmt.Fprintf(out, "<line x1=\"0\" x2=\"%g\" y1=\"%[2]g\" y2=\"%[2]g\" %[3]s/>\n", width, pixel(y), grid)
		label(out, -6, y+4.5, "end", fit(t.Label, plotLeft-8))
	}
	if a.Name != "" {
		label(out, -plotLeft+4, -10, "start", a.Name, "fill-opacity=\"0.75\"")
	}
}

// ends returns the least and the greatest of the finite values, 0 and 0 for none.
func ends(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low > high {
		return 0, 0
	}
	return low, high
}
