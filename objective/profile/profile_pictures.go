package profile

import (
	"fmt"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/plot"
)

// Shown is a launch in pictures.
type Shown struct {
	Name string
	Facts
}

// Pictures draws launches beside each other: the roofline, how full and busy the device is, and what warps spend their
// time at. What nobody knows is left out.
func Pictures(launches ...Shown) []plot.Picture {
	all := []plot.Picture{rooflinePicture(launches), busyPicture(launches), stallPicture(launches)}
	return collect.Where(all, func(picture plot.Picture) bool { return picture.Width > 0 })
}

// Sheet is a profile on one page: its pictures, and what to try first.
func (p *Profile) Sheet() plot.Sheet {
	s := plot.Sheet{Name: p.Name(), Parts: Pictures(Shown{"this launch", p.Facts}), Lines: p.Summary()}
	for i, a := range p.Advice[:min(len(p.Advice), 3)] {
		s.Lines = append(s.Lines, fmt.Sprintf("%d. %s: %s. Try: %s Gain: %s.", i+1, a.Name, a.Seen, a.Try, a.Gain()))
	}
	if p.NoMetrics != "" {
		s.Lines = append(s.Lines, "No counters: "+p.NoMetrics)
	}
	return s
}

// colorOf tells launches apart: the last is the one to look at.
func colorOf(i, of int) string {
	if i == of-1 {
		return plot.Best
	}
	return plot.Bad
}

// rooflinePicture draws launches under the best that the device can do. Bytes are those that were moved, where a
// profiler has counted them, and else those of the manifest's formula.
func rooflinePicture(launches []Shown) plot.Picture {
	var series []plot.Series
	roof := launches[0].Roofline.Comparable()
	if roof.Flops <= 0 || roof.Bytes <= 0 {
		return plot.Picture{}
	}
	ridge := roof.Flops / roof.Bytes
	left, right, lowest := ridge, ridge, roof.Flops
	for i, l := range launches {
		bytes, counted := l.traffic()
		if !counted || bytes <= 0 {
			bytes = l.Bytes
		}
		if l.Flops <= 0 || bytes <= 0 || l.seconds() <= 0 {
			return plot.Picture{}
		}
		at := plot.XY{X: l.Flops / bytes, Y: l.Flops / l.seconds()}
		left, right, lowest = min(left, at.X), max(right, at.X), min(lowest, at.Y)
		share, bound := l.RooflineShare()
		title := fmt.Sprintf("%s: %s, %s of what %s allows", l.Name, page.Milliseconds(1e3*l.seconds()),
			page.WholePercent(share), bound)
		color := colorOf(i, len(launches))
		dot := plot.Dot{XY: at, Color: color, Radius: 5, Title: title}
		series = append(series, plot.Series{Name: l.Name, Color: color, Dots: []plot.Dot{dot}})
	}
	left, right = left/4, right*4
	reach := func(x float64) plot.XY { return plot.XY{X: x, Y: min(roof.Flops, x*roof.Bytes)} }
	device := plot.Series{
		Name: "what the device can do", Color: "currentColor", Line: []plot.XY{reach(left), reach(ridge), reach(right)},
	}
	panel := plot.Panel{
		X:      plot.Log("flop a byte", func(v float64) string { return fmt.Sprintf("%.4g", v) }, left, right),
		Y:      plot.Log("flop/s", page.Rate, lowest, reach(left).Y, roof.Flops),
		Series: append([]plot.Series{device}, series...),
	}
	return plot.Plot{
		Name: "Roofline", Text: "Speed against the work per byte, under the speed of memory and arithmetic.",
		Panels: []plot.Panel{panel},
	}.Picture()
}

// busyPicture draws how full multiprocessors are of warps, and how busy parts of the device.
func busyPicture(launches []Shown) plot.Picture {
	bars := shares{plot.Bars{Name: "Occupancy, and how busy the device is"}}
	for _, part := range []struct{ name, counter string }{
		{"occupancy", occupancyShare}, {"multiprocessors", smBusy}, {"memory", memoryBusy}, {"L2 cache", l2Busy},
		{"L1 cache and shared memory", l1Busy},
	} {
		for i, l := range launches {
			share, known := l.share(part.counter), l.has(part.counter)
			if r := l.Resources; !known && part.counter == occupancyShare && r != nil && r.Occupancy != nil {
				share, known = r.Occupancy.Share(), true
			}
			if known {
				bars.add(launches, i, part.name, share)
			}
		}
	}
	return bars.picture()
}

// mostStalls is how many reasons are drawn.
const mostStalls = 6

func stallPicture(launches []Shown) plot.Picture {
	bars := shares{plot.Bars{Name: "What warps spend their time at"}}
	last := launches[len(launches)-1].Stalls()
	if len(launches[0].Stalls()) == 0 {
		last = nil // there is nothing to compare with
	}
	for _, reason := range last[:min(len(last), mostStalls)] {
		for i, l := range launches {
			bars.add(launches, i, reason.Meaning, StallShare(l.Stalls(), reason.Reason))
		}
	}
	return bars.picture()
}

// shares are bars of shares, one for each launch.
type shares struct{ plot.Bars }

func (s *shares) add(launches []Shown, i int, name string, share float64) {
	if len(launches) > 1 {
		name = launches[i].Name + ": " + name
	}
	value := page.WholePercent(share)
	s.Text += name + " " + value + ". "
	s.Rows = append(s.Rows, plot.Bar{Label: name, Value: value, To: max(share, 1e-6), Color: colorOf(i, len(launches))})
}

func (s *shares) picture() plot.Picture {
	s.X = plot.Linear("", page.WholePercent, 0, 1).From(0, page.WholePercent)
	return s.Bars.Picture()
}
