package simulate

import (
	"bytes"
	"fmt"
	"io"

	"pawl/internal/collect"
	"pawl/internal/page"
)

// WriteTable writes the report as text: one table over all spaces, and one for each where there are several.
func (r *Report) WriteTable(w io.Writer) error {
	var text bytes.Buffer
	if len(r.Spaces) > 1 {
		r.writeTable(&text, fmt.Sprintf("all %d spaces, %s", len(r.Spaces), r.protocol()), r.Overall)
	}
	for _, s := range r.Spaces {
		title := fmt.Sprintf("%s: %d points, %d of them work, at most %d in flight", s.Name, s.Points, s.Working, s.Ahead)
		if len(r.Spaces) == 1 {
			title += ", " + r.protocol()
		} else {
			text.WriteByte('\n')
		}
		r.writeTable(&text, title, s.Samplers)
	}
	if _, err := text.WriteTo(w); err != nil {
		return fmt.Errorf("simulate: writing the table: %w", err)
	}
	return nil
}

func (r *Report) protocol() string {
	text := fmt.Sprintf("%d seeds, fraction of the optimum with its 95 %% interval", r.Seeds)
	if r.Clock {
		text += ", a trial being the time in which an average point is finished"
	}
	if r.Devices > 1 {
		text += fmt.Sprintf(", %d devices", r.Devices)
	}
	return text
}

// writeTable writes a table, and below it what help was worth and how often bounds held, where that was asked for.
func (r *Report) writeTable(text *bytes.Buffer, title string, samplers []SamplerReport) {
	fmt.Fprintln(text, title)
	trials := collect.Each(r.Budgets, func(budget int) string { return fmt.Sprintf("%d trials", budget) })
	header := append([]string{"sampler"}, trials...)
	last := r.Budgets[len(r.Budgets)-1]
	header = append(header, fmt.Sprintf("within 5%% at %d", last), fmt.Sprintf("1%% at %d", last),
		"in flight", "ask mean")
	page.Table(text, header, collect.Each(samplers, row))
	for _, s := range samplers {
		for _, h := range s.Help {
			fmt.Fprintf(text, "%s at %d: gains %+.3f [%+.3f, %+.3f] by seed\n",
				s.Sampler, h.Budget, h.Gain.Mean, h.Gain.Low, h.Gain.High)
		}
	}
	for _, s := range samplers {
		if c := s.Calibration; c != nil {
			fmt.Fprintf(text,
				"%s at %d: the bound on what is left, %.0f %% sure, held in %.0f %% of %d searches; median bound %.1f %%, "+
					"median truth %.1f %%\n",
				s.Sampler, last, 100*c.Claimed, 100*c.Held, c.Known, 100*c.Bound, 100*c.Truth)
		}
	}
}

func row(s SamplerReport) []string {
	cells := []string{s.Sampler}
	for _, e := range s.Fraction {
		cells = append(cells, fmt.Sprintf("%.3f [%.3f, %.3f]", e.Mean, e.Low, e.High))
	}
	last := len(s.Within5) - 1
	return append(cells,
		page.WholePercent(s.Within5[last]), page.WholePercent(s.Within1[last]),
		fmt.Sprintf("%.1f", s.InFlight), fmt.Sprintf("%.2f ms", s.AskMean))
}
