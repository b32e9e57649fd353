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
			if d.Price > 0 {
				text += fmt.Sprintf(", %.2f %s", d.Price*s.Search.Seconds/3600, escape.Markdown(d.Currency))
			}
			return text
		}),
		row("speedup over the default", func(s *report.Summary) string {
			if s.Evidence == nil {
				return page.Unknown
			}
			return fmt.Sprintf("%.2f× (%s)", s.Evidence.Speedup, page.RatioInterval(s.Evidence.Interval))
		}),
		row("left to gain", func(s *report.Summary) string {
			r := s.Study.Regret
			if r == nil {
				return page.Unknown
			}
			text := fmt.Sprintf("at most %s, %s sure", page.Percent(r.Left), page.WholePercent(r.Sure))
			if found, known := foundSince(this, s); known {
				held := "held"
				if found > r.Left {
					held = "did not hold"
				}
				text += fmt.Sprintf("; %s was found since, so that the prediction %s", page.Percent(max(0, found)), held)
			}
			return text
		}),
	}
	m.Table(header, rows)
}

// foundSince is how much faster a study's winner is than the one before it, as a share. Each was
// measured beside its own default, so that they can be compared where that is the same, or the last winner.
func foundSince(this, last *report.Summary) (share float64, known bool) {
	if this == last || this.Evidence == nil || last.Evidence == nil {
		return 0, false
	}
	switch this.Default.Point {
	case last.Winner.Point:
		return 1 - 1/this.Evidence.Speedup, true
	case last.Default.Point:
		return 1 - last.Evidence.Speedup/this.Evidence.Speedup, true
	}
	return 0, false
}
