package program

import (
	"fmt"
	"io"
	"strings"

	"pawl/gate"
	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
)

// Headline is the comparison in one line: the program, the figure, the reason.
func (r *Report) Headline() string {
	figure := ""
	if r.Summary.Rows > 0 {
		figure = page.Change(r.Summary.Change) + ": "
	}
	return fmt.Sprintf("%s: %s%s: %s", r.Program, figure, r.Verdict, r.Reason)
}

// SummaryLine is what all rows together say.
func (r *Report) SummaryLine() string {
	s := r.Summary
	if s.Rows == 0 {
		return "no row was compared"
	}
	unchanged := len(collect.Where(r.Rows, Row.Unchanged))
	return fmt.Sprintf("%s: geometric mean %s (%s), %d proven slower, %d proven faster, %d unchanged within the limits; "+
		"%d rounds in %s", page.Count(s.Rows, "row"), page.Change(s.Change), page.ChangeInterval(s.Interval), s.Slower,
		s.Faster, unchanged, r.Rounds, page.Seconds(r.Took.Seconds()))
}

// shown are the verdicts whose rows are listed; the others are a count. Of rows that are undecided for one
// reason there may be hundreds.
var shown = []gate.Verdict{gate.Wrong, gate.Regression, gate.Vanished, gate.Improvement, gate.New}

const mostUndecided = 10

// listed are the rows that a report lists, and how many undecided ones it leaves out.
func (r *Report) listed() (rows []Row, more int) {
	for _, verdict := range shown {
		rows = append(rows, r.With(verdict)...)
	}
	undecided := r.With(gate.Inconclusive, gate.Infeasible)
	kept := min(len(undecided), mostUndecided)
	return append(rows, undecided[:kept]...), len(undecided) - kept
}

var head = []string{"row", "baseline", "current", "change", "95 % interval", "p", "verdict"}

func (row Row) cells() []string {
	time := func(ms float64) string {
		if ms == 0 {
			return page.Unknown
		}
		return page.Milliseconds(ms)
	}
	change, interval, p := page.Unknown, page.Unknown, page.Unknown
	if e := row.Evidence; e != nil {
		change, interval, p = page.Change(e.Change), page.ChangeInterval(e.Interval), fmt.Sprintf("%.2g", e.P)
	}
	return []string{row.Name, time(row.Baseline), time(row.Current), change, interval, p, string(row.Verdict)}
}

// Text writes the report for a terminal.
func (r *Report) Text(w io.Writer) {
	fmt.Fprintf(w, "%s\n%s\n", escape.Line(r.Headline()), r.SummaryLine())
	rows, more := r.listed()
	if len(rows) > 0 {
		fmt.Fprintln(w)
		page.Table(w, head, collect.Each(rows, Row.cells))
	}
	if more > 0 {
		fmt.Fprintf(w, "and %s more that could not be decided\n", page.Count(more, "row"))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", escape.Line(note))
	}
}

// Markdown writes the report for a page.
func (r *Report) Markdown(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "**%s**\n\n%s\n", escape.Markdown(r.Headline()), r.SummaryLine())
	rows, more := r.listed()
	if len(rows) > 0 {
		fmt.Fprintf(&text, "\n| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
		for _, row := range rows {
			fmt.Fprintf(&text, "| %s |\n", strings.Join(collect.Each(row.cells(), escape.Markdown), " | "))
		}
	}
	if more > 0 {
		fmt.Fprintf(&text, "\nAnd %s more that could not be decided.\n", page.Count(more, "row"))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&text, "\n- %s\n", escape.Markdown(note))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// JSON writes the report for programs, with every row.
func (r *Report) JSON(w io.Writer) error { return page.JSON(w, "pawl gate program", 1, r) }
