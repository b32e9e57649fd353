package report

import (
	"fmt"
	"io"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
)

// Text writes the result for a terminal: what happened, how sure that is,
// and what to do next.
func Text(w io.Writer, s *Summary, files Files) {
	fmt.Fprintf(w, "%s, workload %s: %s\n\n", escape.Line(s.Study.Kernel), escape.Line(s.Study.Workload), s.Standing())
	rows := collect.Each(s.Rows(), func(t Named) []string { return timedRow(s, t) })
	if len(rows) > 0 {
		page.Table(w, []string{"", s.Compared(), "95 % interval", "speedup", "95 % interval", "P(best)", "point"},
			rows)
		fmt.Fprintln(w)
	}
	if s.Sources != nil {
		fmt.Fprintln(w, escape.Line(s.Sources.Sentence))
	}
	fmt.Fprintln(w, escape.Line(s.Advice.Sentence))
	if s.Gate != nil {
		for _, note := range s.Gate.Notes {
			fmt.Fprintf(w, "Note: %s\n", escape.Line(note))
		}
	} else if s.Suggestion != nil {
		fmt.Fprintln(w, ungated(s))
	}
	for _, warning := range s.Warnings {
		fmt.Fprintf(w, "Note: %s\n", escape.Line(warning))
	}
	for _, line := range measuredLines(s) {
		fmt.Fprintln(w, escape.Line(line))
	}
	if s.Evidence != nil && s.Winner.Checked != nil {
		fmt.Fprintln(w, escape.Line(s.Winner.Checked.sentence()))
	}
	acrossText(w, s)
	f, abandoned := s.Search, ""
	if f.Abandoned > 0 { // they were compiling when the search ended
		abandoned = fmt.Sprintf(", %d abandoned at the end", f.Abandoned)
	}
	fmt.Fprintf(w, "\n%s in %.0f s: %d measured, %d failed%s%s\n", page.Count(f.Asked, "trial"), f.Seconds, f.OK,
		f.Failed, failureText(s), abandoned)
	if text := regretText(s.Study.Regret); text != "" {
		fmt.Fprintln(w, text)
	}
	if text := deadText(s.Study.Dead); text != "" {
		fmt.Fprintf(w, "Parameters without effect: %s.\n", escape.Line(text))
	}
	files.Text(w)
	if s.applicable() != nil && Withheld(s) == "" {
		fmt.Fprintf(w, "\nNext: %s\n", escape.Line(action(s)))
	}
}

// Text says for a terminal which files were changed.
func (f Files) Text(w io.Writer) {
	for _, path := range f.Written {
		fmt.Fprintf(w, "wrote %s\n", path)
	}
	if f.Removed != "" {
		fmt.Fprintf(w, "removed %s, the header of what is no longer suggested\n", f.Removed)
	}
}

func timedRow(s *Summary, t Named) []string {
	row := []string{t.Name, s.Written(t.Milliseconds), s.WrittenInterval(t.Interval), "", "", "", t.Point.String()}
	if t.Speedup != nil {
		row[3] = fmt.Sprintf("%.2f×", *t.Speedup)
		row[4] = page.RatioInterval(*t.SpeedupInterval)
	}
	if t.Best != nil {
		row[5] = page.WholePercent(*t.Best)
	}
	return row
}

func failureText(s *Summary) string {
	var parts []string
	for _, f := range s.Failures {
		parts = append(parts, fmt.Sprintf("%d %s", f.Count, escape.Line(f.Reason)))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
