package rivals

import (
	"fmt"
	"strings"

	"pawl/internal/page"
	"pawl/internal/plot"
)

// Figure draws how many times as fast as each rival our best point is, workload by workload. A
// rival without times has no bar.
func Figure(results []*Result) plot.Picture {
	bars := plot.Bars{Name: "our best point against rivals", Marks: []float64{1}, MarkName: "as fast as the rival"}
	ends := []float64{0, 1}
	colours := map[string]string{}
	var said []string
	for _, r := range results {
		for _, s := range r.Sides {
			if s.Ours || s.Limit || s.Speedup == nil {
				continue
			}
			if colours[s.Name] == "" {
				colours[s.Name] = plot.Colours[len(colours)%len(plot.Colours)]
			}
			bar := plot.Bar{
				Label: r.Workload,
				Value: fmt.Sprintf("%s, %.2f× %s", page.Milliseconds(r.Sides[r.Best].Milliseconds), s.Speedup.Ratio, s.Name),
				To:    s.Speedup.Ratio, Colour: colours[s.Name], Title: r.Sides[r.Best].Point,
			}
			if i := s.Speedup.Interval; i.Bounded() {
				bar.Whisker = &[2]float64{i.Low, i.High}
			}
			bars.Rows = append(bars.Rows, bar)
			ends = append(ends, s.Speedup.Ratio)
			said = append(said, fmt.Sprintf("%s %s: %.2f times as fast as %s", r.Kernel, r.Workload, s.Speedup.Ratio, s.Name))
		}
	}
	bars.X = plot.Linear("times as fast", func(v float64) string { return fmt.Sprintf("%g×", v) }, ends...)
	bars.Text = strings.Join(said, "; ")
	return bars.Picture()
}
