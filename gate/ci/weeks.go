package ci

import (
	"fmt"
	"time"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/studies/report"
)

// weeks says what a study cost and brought, beside the last one of the same subject, which may be nil.
func (d Drafts) weeks(m *page.Markdown, this, last *report.Summary) {
	header, all := []string{"", "this time"}, []*report.Summary{this}
	if last != nil {
		header, all = append(header, "last time"), append(all, last)
	}
	row := func(name string, cell func(*report.Summary) string) []string {
		cells := []string{name}
		for _, s := range all {
			cells = append(cells, cell(s))
		}
		return cells
	}
	rows := [][]string{
		row("study", func(s *report.Summary) string {
			return fmt.Sprintf("%d of %s", s.Study.ID, s.Study.Created.UTC().Format(time.DateOnly))
		}),
		row("cost", func(s *report.Summary) string {
			text := fmt.Sprintf("%.1f minutes, %s", s.Search.Seconds/60, page.Count(s.Search.Asked, "trial"))
			if m := d.Machine; m != nil && m.PricePerHour > 0 {
				text += fmt.Sprintf(", %.2f %s", m.PricePerHour*s.Search.Seconds/3600, escape.Markdown(m.Currency))
			}
			return text
		}),
		row("speedup over the default", func(s *report.Summary) string {
			if s.Evidence == nil {
				return page.Unknown
			}
			return fmt.Sprintf("%.2f× (%s)", s.Evidence.Speedup, page.RatioInterval(s.Evidence.Interval))
		}),
	}
	m.Table(header, rows)
}
