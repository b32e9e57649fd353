package simulate

import (
	"fmt"
	"io"

	"pawl/internal/page"
)

// WriteTable writes the report as text: one table over all spaces, and one for
// each where there are several.
func (r *Report) WriteTable(w io.Writer) error {
	if len(r.Spaces) > 1 {
		title := fmt.Sprintf("all %d spaces, %s", len(r.Spaces), r.protocol())
		if err := r.writeTable(w, title, r.Overall); err != nil {
			return err
		}
	}
	for i, s := range r.Spaces {
		title := fmt.Sprintf("%s: %d points, %d of them work", s.Name, s.Points, s.Working)
		if len(r.Spaces) == 1 {
			title += ", " + r.protocol()
		}
		if len(r.Spaces) > 1 || i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return fmt.Errorf("simulate: writing the table: %w", err)
			}
		}
		if err := r.writeTable(w, title, s.Samplers); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) protocol() string {
	text := fmt.Sprintf("%d seeds, fraction of the optimum with its 95 %% interval", r.Seeds)
	if r.Clock {
		text += ", a trial being what the average point costs"
	}
	if r.Noise {
		text += ", one noisy sample per trial"
	}
	return text
}

func (r *Report) writeTable(w io.Writer, title string, samplers []SamplerReport) error {
	if _, err := fmt.Fprintln(w, title); err != nil {
		return fmt.Errorf("simulate: writing the table: %w", err)
	}
	header := []string{"sampler"}
	for _, b := range r.Budgets {
		header = append(header, fmt.Sprintf("%d trials", b))
	}
	last := r.Budgets[len(r.Budgets)-1]
	header = append(header, fmt.Sprintf("within 5%% at %d", last), fmt.Sprintf("1%% at %d", last), "score", "zero-centred", "ask mean", "longest")
	var rows [][]string
	for _, s := range samplers {
		rows = append(rows, row(s))
	}
	if err := page.Table(w, header, rows); err != nil {
		return fmt.Errorf("simulate: writing the table: %w", err)
	}
	if err := writeHelp(w, samplers); err != nil {
		return err
	}
	return writeCalibrations(w, samplers)
}

func row(s SamplerReport) []string {
	cells := []string{s.Sampler}
	for _, e := range s.Fraction {
		cells = append(cells, fmt.Sprintf("%.3f [%.3f, %.3f]", e.Mean, e.Low, e.High))
	}
	last := len(s.Within5) - 1
	return append(cells,
		page.WholePercent(s.Within5[last]), page.WholePercent(s.Within1[last]),
		fmt.Sprintf("%.3f", s.Community), fmt.Sprintf("%.3f", s.Zero),
		fmt.Sprintf("%.2f ms", s.AskMean), fmt.Sprintf("%.1f ms", s.AskLongest))
}
