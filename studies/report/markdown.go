package report

import (
	"fmt"
	"io"
	"strings"

	"pawl/internal/escape"
	"pawl/internal/page"
)

// markdown is the page in the making.
type markdown struct{ page.Markdown }

// Markdown writes suggestions.md: the page a reviewer decides by.
func Markdown(w io.Writer, s *Summary) error {
	m := &markdown{}
	m.head(s)
	m.verdict(s)
	m.gate(s)
	m.why(s)
	m.across(s)
	m.measured(s)
	m.front(s)
	m.checked(s)
	m.apply(s)
	m.top(s)
	m.ablation(s)
	m.importances(s)
	m.failures(s)
	m.background(s)
	return m.Write(w)
}

// text and code write what is not ours, in a sentence or as code.
func text(outside string) string { return escape.Markdown(outside) }
func code(outside string) string { return escape.Code(outside) }

func (m *markdown) head(s *Summary) {
	m.Paragraph("# %s, %s: %s", text(s.Study.Kernel), text(s.Study.Workload), s.Advice.Verdict)
	m.Paragraph("%s", text(s.Advice.Sentence))
	for _, warning := range s.Warnings {
		m.Paragraph("> **Note.** %s", text(warning))
	}
}

func (m *markdown) verdict(s *Summary) {
	if s.Default == nil || s.Winner == nil {
		return
	}
	rows := [][]string{comparisonRow(s, "default", s.Default)}
	if s.Evidence != nil {
		rows = append(rows, comparisonRow(s, "winner", s.Winner))
	}
	m.Table([]string{"", text(s.Compared()), "95 % interval", "CV (robust CV)", "throughput", "point"},
		rows)
	if e := s.Evidence; e != nil {
		m.Table([]string{"speedup", "95 % interval", "Cliff's δ", "P(best)", "rounds"}, [][]string{{
			fmt.Sprintf("**%.2f×**", e.Speedup), page.RatioInterval(e.Interval),
			fmt.Sprintf("%.2f (%s)", e.Delta, e.Magnitude), page.WholePercent(e.Best), fmt.Sprint(e.Rounds),
		}})
		m.Paragraph("%s it is the median over the rounds of the ratio inside each, which is not quite the ratio of the "+
			"medians. δ compares every sample of the default with every sample of the winner; 1 means that the winner is "+
			"always faster. P(best) is the probability that the winner is the best of the %d finalists. Each round measured "+
			"every finalist and the default in random order, %s.", speedupMeaning(s), len(s.Top), inRounds(s.Study))
	}
}

func variationCell(t *Timed) string {
	return page.Percent(t.CV) + " (" + page.Percent(t.Variation) + ")"
}

func comparisonRow(s *Summary, name string, t *Timed) []string {
	return []string{name, s.Written(t.Milliseconds), s.WrittenInterval(t.Interval), variationCell(t), Throughput(t),
		code(t.Point.String())}
}

// apply says what the winner's values are, and how to get what was measured where
// that is worth it.
func (m *markdown) apply(s *Summary) {
	if s.Evidence == nil {
		return
	}
	m.Paragraph("## Parameters")
	var rows [][]string
	for _, a := range s.Winner.Point.Assignments() {
		mark := ""
		base, _ := s.Default.Point.Get(a.Name)
		if base != a.Value {
			mark = "changed"
		}
		rows = append(rows, []string{code(a.Name), code(base.String()), code(a.Value.String()), mark})
	}
	m.Table([]string{"parameter", "default", "winner", ""}, rows)
	if why := Withheld(s); why != "" {
		m.Paragraph("%s", why)
	}
	if s.Suggestion != nil {
		m.instructions(s)
	}
}

// instructions says how to get what was measured, in commands that work as they
// stand.
func (m *markdown) instructions(s *Summary) {
	g := s.Suggestion
	m.Paragraph("## How to apply")
	if g.Header == "" {
		m.Paragraph("Make the winner the default of the manifest (%s), or run this in the kernel's folder:",
			code(fmt.Sprintf("pawl apply %d --manifest", s.Study.ID)))
		m.Code("sh", g.Command)
		return
	}
	m.Paragraph("Copy %s into the kernel's folder (%s does) and compile there:", code(g.Header),
		code(fmt.Sprintf("pawl apply %d", s.Study.ID)))
	m.Code("sh", g.Command)
	if g.Plain != "" {
		m.Paragraph("Or, without the header:")
		m.Code("sh", g.Plain)
	}
	if cmake := g.cmake(); cmake != "" {
		m.Paragraph("Or with CMake, without the header:")
		m.Code("cmake", cmake)
	}
	if g.Libraries != "" {
		m.Paragraph("Link with %s.", code(g.Libraries))
	}
	if launch := launchText(s.Winner); launch != "" {
		m.Paragraph("%s", launch)
	}
}

func (m *markdown) top(s *Summary) {
	if len(s.Top) == 0 {
		return
	}
	title := "## The finalists"
	if s.Winner == nil {
		title = "## The best trials, unconfirmed"
	}
	m.Paragraph("%s", title)
	header := []string{"", text(s.Compared()), "95 % interval", "speedup", "P(best)", "point"}
	needs := s.Top[0].Resources != nil
	if needs {
		header = append(header, "needs")
	}
	var rows [][]string
	for i, t := range s.Top {
		row := []string{fmt.Sprint(i + 1), s.Written(t.Milliseconds), s.WrittenInterval(t.Interval), speedupCell(t),
			probabilityCell(t), code(t.Point.String())}
		if needs {
			row = append(row, t.Needs())
		}
		rows = append(rows, row)
	}
	m.Table(header, rows)
}

func speedupCell(t Timed) string {
	if t.Speedup == nil {
		return page.Unknown
	}
	return fmt.Sprintf("%.2f× (%s)", *t.Speedup, page.RatioInterval(*t.SpeedupInterval))
}

func probabilityCell(t Timed) string {
	if t.Best == nil {
		return page.Unknown
	}
	return page.WholePercent(*t.Best)
}

func (m *markdown) ablation(s *Summary) {
	if len(s.Ablation) == 0 {
		return
	}
	m.Paragraph("## What each change is worth")
	m.Paragraph("From the default to the winner, one change at a time, measured interleaved in fresh processes. The " +
		"order matters: a change may pay only after another.")
	var rows [][]string
	for i, step := range s.Ablation {
		worth := ""
		if i > 0 {
			worth = fmt.Sprintf("%.2f× (%s)", step.Speedup, page.RatioInterval(step.Interval))
		}
		rows = append(rows,
			[]string{text(step.name()), s.Written(step.Milliseconds), worth, fmt.Sprintf("%.2f×", step.Total)})
	}
	m.Table([]string{"change", text(s.Compared()), "this step", "so far"}, rows)
}

func (m *markdown) importances(s *Summary) {
	if s.Search.OK < 10 {
		return
	}
	m.Paragraph("## Which parameters matter")
	m.Paragraph("The share of the variation in log time that each parameter explains by itself, over the %d trials "+
		"that passed. A hint, not a measurement: interactions between parameters are not counted.", s.Search.OK)
	var rows [][]string
	for _, i := range s.Importances {
		rows = append(rows, []string{code(i.Name), page.WholePercent(i.Share), strings.Repeat("█", int(20*i.Share+0.5))})
	}
	m.Table([]string{"parameter", "share", ""}, rows)
}

func (m *markdown) failures(s *Summary) {
	m.Paragraph("## What failed")
	if len(s.Failures) == 0 {
		m.Paragraph("Nothing.")
		return
	}
	var rows [][]string
	for _, f := range s.Failures {
		rows = append(rows,
			[]string{fmt.Sprint(f.Count), text(string(f.Stage)), text(f.Reason), code(f.Example.String()), code(f.Detail)})
	}
	m.Table([]string{"count", "stage", "reason", "for example", "detail"}, rows)
}

func (m *markdown) background(s *Summary) {
	m.Paragraph("## How this was found")
	for _, f := range background(s) {
		m.Line("- %s:%s%s", f.What, strings.TrimRight(" "+text(f.Text), " "), strings.TrimRight(" "+code(f.Code), " "))
	}
	m.Line("")
	var rows [][]string
	for _, row := range timeRows(s) {
		rows = append(rows, []string{row.what, row.text, row.share})
	}
	if rows != nil {
		m.Paragraph("Where the time went:")
		m.Table([]string{"", "time", "share of the search"}, rows)
	}
	m.Paragraph("Reproduce it with:")
	m.Line("%s", escape.Fence("sh", s.Study.Command))
}
