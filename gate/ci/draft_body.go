package ci

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/studies/report"
)

// byKernel groups the studies by kernel, in the order of names. A study that nobody can
// read has no kernel.
func byKernel(all []report.Entry) [][]report.Entry {
	by := map[string][]report.Entry{}
	for _, s := range all {
		if s.Kernel != "" {
			by[s.Kernel] = append(by[s.Kernel], s)
		}
	}
	return collect.Each(slices.Sorted(maps.Keys(by)), func(name string) []report.Entry { return by[name] })
}

func title(s report.Entry) string {
	if s.Speedup == nil {
		return fmt.Sprintf("Tune %s for %s", escape.Line(s.Kernel), escape.Line(s.Workload))
	}
	return fmt.Sprintf("Tune %s for %s: %.2f× faster", escape.Line(s.Kernel), escape.Line(s.Workload), *s.Speedup)
}

// body is the text of a draft: what its studies cost and brought, what it is, the other studies of the kernel, and
// the page of the study that it applies.
func (d Drafts) body(weeks *page.Grid, chosen report.Entry, all []report.Entry,
	refused map[int64]string) (string, error) {
	suggestions, err := os.ReadFile(filepath.Join(d.Out, filepath.FromSlash(chosen.Folder), report.MarkdownName))
	if err != nil {
		return "", err
	}
	rows := collect.Each(all, func(s report.Entry) []string {
		speedup, action := page.Unknown, s.Action
		if s.Speedup != nil && s.Interval != nil {
			speedup = fmt.Sprintf("%.2f× (%s)", *s.Speedup, page.RatioInterval(*s.Interval))
		}
		if reason, ok := refused[s.Study]; ok {
			action = "not applied: " + reason
		}
		if s.Study == chosen.Study {
			action = "this draft"
		}
		return []string{fmt.Sprint(s.Study), escape.Markdown(s.Workload), escape.Markdown(s.Device),
			escape.Markdown(string(s.Verdict)), speedup, escape.Markdown(s.Against()), escape.Markdown(action)}
	})
	return closed("draft", "", struct {
		report.Entry
		Weeks, Studies    *page.Grid
		Page, Suggestions string
	}{chosen, weeks, page.NewGrid(rows, "study", "workload", "device", "verdict", "speedup over the default",
		"against what you run today", "what to do"), d.Job.page(), string(suggestions)}), nil
}
