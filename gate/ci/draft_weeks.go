package ci

import (
	"fmt"
	"time"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/studies/report"
)

// weeks says what a study cost and brought, beside the last one of the same subject, which may be nil.
func (d Drafts) weeks(this, last *report.Summary) *page.Grid {
	header, all := []string{"", "this time"}, []*report.Summary{this}
	if last != nil {
		header, all = append(header, "last time"), append(all, last)
	}
	row := func(name string, cell func(*report.Summary) string) []string {
		return append([]string{name}, collect.Each(all, cell)...)
	}
	return &page.Grid{Head: header, Rows: [][]string{
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
		row("left to gain, the model guessed", func(s *report.Summary) string {
			if s.Study.Regret == nil {
				return page.Unknown
			}
			text := "at most " + page.Percent(s.Study.Regret.Left)
			if found, known := foundSince(this, s); known {
				text += fmt.Sprintf("; %s was found since", page.Percent(max(0, found)))
			}
			return text
		}),
	}}
}

// foundSince is the share of time that this winner saves over the last one. Each was measured beside its own default,
// so that it is known where the default is the same, or was the last winner.
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
