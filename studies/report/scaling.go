package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/plot"
	"pawl/space"
	"pawl/studies"
)

// Sized is a workload with its times in milliseconds, 0 where unknown.
type Sized struct {
	Workload string       `json:"workload"`
	Dims     string       `json:"dims"`
	Work     studies.Work `json:"work"`
	// Floor is the shortest time that the device allows.
	Floor   float64            `json:"roofline_milliseconds,omitempty"`
	Default float64            `json:"default_milliseconds,omitempty"`
	Best    float64            `json:"best_milliseconds,omitempty"`
	Rivals  map[string]float64 `json:"rivals_milliseconds,omitempty"`
}

// sizes are the workloads of a kernel that were tuned on one device, this study's among them; nil where the manifest
// does not say how much work a launch does, or something else than the time is compared.
func sizes(ctx context.Context, store *studies.Store, all []studies.Study, s *Summary) []Sized {
	if s.Study.Environment.Objective != nil || s.Study.Work.Flops+s.Study.Work.Bytes <= 0 {
		return nil
	}
	found := []Sized{sized(s)}
	for subject, other := range FrontStudies(all) {
		of := SubjectOf(s.Study)
		if of.workload = subject.workload; of != subject || subject == SubjectOf(s.Study) {
			continue
		}
		if summary, err := ReadBrief(ctx, store, other.ID); err == nil { // another's trouble is not this one's
			found = append(found, sized(summary))
		}
	}
	slices.SortFunc(found, func(a, b Sized) int {
		return cmp.Or(cmp.Compare(a.Work.Flops, b.Work.Flops), cmp.Compare(a.Work.Bytes, b.Work.Bytes),
			cmp.Compare(a.Workload, b.Workload))
	})
	return found
}

func sized(s *Summary) Sized {
	one := Sized{Workload: s.Study.Workload, Dims: s.Study.Dims, Work: s.Study.Work, Rivals: s.Study.Rivals}
	if roof := s.Study.Roofline; roof.Flops > 0 && roof.Bytes > 0 {
		one.Floor = 1e3 * max(one.Work.Flops/roof.Flops, one.Work.Bytes/roof.Bytes)
	}
	if s.Default != nil {
		one.Default = s.Default.Milliseconds
	}
	if s.Winner != nil {
		one.Best = s.Winner.Milliseconds
	} else if len(s.Top) > 0 {
		one.Best = s.Top[0].Milliseconds
	}
	return one
}

// sizeOf names what workloads differ in, and returns that of each: the one dimension that is not the same for all, or
// else the work.
func sizeOf(all []Sized) (name string, values []float64) {
	dimensions := map[string][]float64{}
	for _, one := range all {
		dims, err := space.ParsePoint(one.Dims)
		if err != nil {
			continue
		}
		for _, a := range dims.Assignments() {
			if size, err := strconv.ParseFloat(a.Value.String(), 64); err == nil {
				dimensions[a.Name] = append(dimensions[a.Name], size)
			}
		}
	}
	differ := 0
	for dimension, sizes := range dimensions {
		if len(sizes) == len(all) && slices.Min(sizes) < slices.Max(sizes) {
			name, values, differ = dimension, sizes, differ+1
		}
	}
	if differ == 1 {
		return name, values
	}
	values = collect.Each(all, func(one Sized) float64 { return one.Work.Flops })
	if slices.Max(values) > 0 {
		return "flop", values
	}
	return "bytes", collect.Each(all, func(one Sized) float64 { return one.Work.Bytes })
}

// Scaling draws times against the size of workloads: the default, the best, rivals, and what the device allows.
func (v *View) Scaling() Figure {
	figure := Figure{
		Title: "Time against size",
		Caption: "The workloads of this kernel that were tuned on this device; log scales. Different workloads were not " +
			"measured together.",
	}
	if len(v.Sizes) == 0 || len(v.Sizes) == 1 && v.Sizes[0].Floor == 0 {
		return figure
	}
	name, at := sizeOf(v.Sizes)
	var series []plot.Series
	var times []float64
	add := func(name, color string, of func(Sized) float64) {
		line := plot.Series{Name: name, Color: color}
		for i, one := range v.Sizes {
			ms := of(one)
			if ms <= 0 {
				continue
			}
			place := plot.XY{X: at[i], Y: ms}
			title := fmt.Sprintf("%s (%s): %s %s", one.Workload, one.Dims, name, page.Milliseconds(ms))
			if one.Floor > 0 {
				title += fmt.Sprintf(", %s of the roofline", page.WholePercent(one.Floor/ms))
			}
			line.Line, times = append(line.Line, place), append(times, ms)
			line.Dots = append(line.Dots, plot.Dot{XY: place, Color: color, Radius: 3.5, Title: title})
		}
		slices.SortFunc(line.Line, func(a, b plot.XY) int { return cmp.Compare(a.X, b.X) })
		if len(line.Line) > 0 {
			series = append(series, line)
			figure.Text += fmt.Sprintf("%s: %s at the smallest. ", name, page.Milliseconds(line.Line[0].Y))
		}
	}
	add("roofline", "currentColor", func(one Sized) float64 { return one.Floor })
	add("default", plot.Other, func(one Sized) float64 { return one.Default })
	add("best", plot.Best, func(one Sized) float64 { return one.Best })
	rivals := map[string]float64{}
	for _, one := range v.Sizes {
		maps.Copy(rivals, one.Rivals)
	}
	for i, rival := range slices.Sorted(maps.Keys(rivals)) {
		add(rival, plot.Colors[1+i%5], func(one Sized) float64 { return one.Rivals[rival] })
	}
	panel := plot.Panel{X: plot.Log(name, page.Rate, at...), Y: plot.Times("time", times...), Series: series}
	panel.X.Ticks = collect.Each(slices.Compact(slices.Sorted(slices.Values(at))), func(size float64) plot.Tick {
		return plot.Tick{At: size, Label: page.Rate(size)}
	})
	figure.Picture = plot.Plot{Name: figure.Title, Text: figure.Text, Panels: []plot.Panel{panel}}.Picture()
	return figure
}
