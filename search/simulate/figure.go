package simulate

import (
	"fmt"
	"io"
	"math"

	"pawl/internal/plot"
)

// WriteSVG draws the mean fraction of the optimum over the evaluations, one panel per space and one over all.
func (r *Report) WriteSVG(w io.Writer) error {
	figure := plot.Plot{Name: "mean fraction of the optimum after each trial", Width: 340, Height: 220, Columns: 3}
	if len(r.Spaces) > 1 {
		figure.Panels = append(figure.Panels, r.panel(fmt.Sprintf("mean of %d spaces", len(r.Spaces)), r.Overall))
	}
	for _, s := range r.Spaces {
		figure.Panels = append(figure.Panels, r.panel(s.Name, s.Samplers))
	}
	if err := figure.WriteSVG(w); err != nil {
		return fmt.Errorf("simulate: drawing the figure: %w", err)
	}
	return nil
}

func (r *Report) panel(title string, samplers []SamplerReport) plot.Panel {
	low := lowest(samplers)
	p := plot.Panel{Title: title, X: plot.Axis{High: float64(r.Trials)}, Y: plot.Axis{Low: low, High: 1}}
	for step := range 6 {
		fraction := low + (1-low)*float64(step)/5
		p.Y.Ticks = append(p.Y.Ticks, plot.Tick{At: fraction, Label: fmt.Sprintf("%.2f", fraction)})
	}
	for _, b := range budgetsFor(r.Trials) {
		p.X.Ticks = append(p.X.Ticks, plot.Tick{At: float64(b), Label: fmt.Sprint(b)})
	}
	for i, s := range samplers {
		series := plot.Series{Name: s.Sampler, Colour: plot.Colours[i%len(plot.Colours)]}
		for t, fraction := range s.Curve {
			series.Line = append(series.Line, plot.XY{X: float64(t + 1), Y: fraction})
		}
		p.Series = append(p.Series, series)
	}
	return p
}

// lowest is where a panel's scale begins: below every curve's tenth trial, so
// that the first lucky or unlucky ones do not flatten the rest.
func lowest(samplers []SamplerReport) float64 {
	low := 0.95
	for _, s := range samplers {
		low = min(low, s.Curve[min(9, len(s.Curve)-1)])
	}
	return math.Floor(low*20) / 20
}
