package reporting

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"pawl/gate"
	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/git"
	"pawl/internal/page"
	"pawl/objective/profile"
)

//go:embed report.md.tmpl
var pageSource string

var pages = page.Markdown(pageSource, template.FuncMap{
	"headline": Headline,
	"short":    ShortCommit,
	"p":        probability,
	"summary":  summary,
	"sections": sections,
	"changed":  changed,
	"arms":     func() []gate.Arm { return []gate.Arm{gate.Baseline, gate.Candidate, gate.Control, gate.Best} },
	"grid": func(results []Result, columns ...string) *page.Grid {
		return &page.Grid{Head: columns, Rows: Rows(results, escape.Markdown, columns...)}
	},
})

// Markdown writes the page that a reviewer decides by.
func Markdown(w io.Writer, r *Report) error { return pages.Execute(w, r) }

// StepSummary writes the few lines that stand on the page of a CI run.
func StepSummary(w io.Writer, r *Report) error { return pages.ExecuteTemplate(w, "step", r) }

// Rows are the cells of results in the columns that a table has, ~ for what is not known. Outside writes what is
// not ours.
func Rows(results []Result, outside func(string) string, columns ...string) [][]string {
	return collect.Each(results, func(r Result) []string {
		cells := r.cells()
		cells["config"], cells["why"], cells["kernel"] = outside(r.Config()), outside(r.Reason), outside(r.Kernel)
		return collect.Each(columns, func(column string) string { return cells[column] })
	})
}

// cells are a result's figures by the names of their columns; p95 marks what is beyond its limit.
func (r Result) cells() map[string]string {
	c := map[string]string{
		"baseline": r.Objective.Text(r.Baseline), "current": r.Objective.Text(r.Current), "verdict": string(r.Verdict),
		"change": page.Unknown, "95 % interval": page.Unknown, "p95": page.Unknown, "δ": page.Unknown, "p": page.Unknown,
	}
	if e := r.Evidence; e != nil {
		c["change"], c["95 % interval"] = page.Change(e.Change), page.ChangeInterval(e.Interval)
		c["δ"], c["p"] = fmt.Sprintf("%+.2f", e.Delta), probability(e.P)
	}
	for _, t := range r.Tails {
		if t.Quantile == 0.95 {
			c["p95"] = page.Change(t.Change)
			if t.Slower {
				c["p95"] += " !"
			}
		}
	}
	return c
}

// Smallest writes the smallest regression that would have been seen; it is empty
// where nothing was measured together.
func (r Result) Smallest() string {
	switch {
	case r.Method != gate.Interleaved || r.Evidence == nil || r.Verdict == gate.Regression: // which was seen
		return ""
	case r.SmallestRegression == 0:
		return page.Unknown
	}
	return page.Percent(r.SmallestRegression)
}

func probability(p float64) string { return fmt.Sprintf("%.2g", p) }

func summary(r *Report) *page.Grid {
	rows := [][]string{{"configurations", fmt.Sprint(len(r.Results))}}
	for _, verdict := range gate.Verdicts {
		if n := r.Count(verdict); n > 0 {
			rows = append(rows, []string{string(verdict), fmt.Sprint(n)})
		}
	}
	return page.NewGrid(rows, "", "configurations")
}

// ShortCommit is a commit as people write it.
func ShortCommit(commit string) string {
	hash, changed := git.Hash(commit)
	if hash = hash[:min(12, len(hash))]; changed {
		hash += " with changes"
	}
	return hash
}

type section struct {
	Title   string
	Results []Result
}

// sections are those that there are results of, the worst first.
func sections(r *Report) []section {
	improved := "Improvements, baseline not updated"
	if r.Updated {
		improved = "Improvements, baseline updated"
	}
	return slices.DeleteFunc([]section{
		{"Wrong results", r.with(gate.Wrong)},
		{"Regressions", r.with(gate.Regression)},
		{"Vanished", r.with(gate.Vanished)},
		{improved, r.with(gate.Improvement)},
		{"Unchanged", r.with(gate.Maintained, gate.NoDifference)},
		{"New", r.with(gate.New)},
		{"Inconclusive", r.with(gate.Inconclusive)},
		{"Infeasible", r.with(gate.Infeasible)},
	}, func(s section) bool { return len(s.Results) == 0 })
}

// whyChanges is how many changed figures stand on the page; JSON has more.
const whyChanges = 5

func changed(why *profile.Comparison) string {
	return strings.Join(collect.Each(why.Changes[:min(len(why.Changes), whyChanges)],
		func(c profile.Change) string { return escape.Markdown(c.Name + ": " + c.Text) }), "; ")
}
