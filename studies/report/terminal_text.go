package report

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
)

//go:embed terminal.txt.tmpl
var terminalSource string

var terminal = template.Must(template.New("").Funcs(template.FuncMap{
	"line":  escape.Line,
	"count": page.Count,
	"columns": func(g *page.Grid) string {
		var text strings.Builder
		page.Table(&text, g.Head, g.Rows)
		return text.String()
	},
	"timed":    timedGrid,
	"ungated":  ungated,
	"measured": measuredLines,
	"checked":  (*Checked).sentence,
	"elsewhere": func(s *Summary) *page.Grid {
		return page.NewGrid(acrossRows(s, strings.ToUpper, escape.Line), acrossHeader...)
	},
	"failures": failureText,
	"regret":   regretText,
	"dead":     deadText,
}).Parse(terminalSource))

// Text writes the result for a terminal: what happened, how sure that is,
// and what to do next.
func Text(w io.Writer, s *Summary, files Files) {
	var text strings.Builder
	if err := terminal.Execute(&text, s); err != nil {
		panic("report: " + err.Error()) // a builder takes everything
	}
	fmt.Fprint(w, text.String())
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

func timedGrid(s *Summary) *page.Grid {
	rows := collect.Each(s.Rows(), func(t Named) []string {
		row := []string{t.Name, s.Written(t.Milliseconds), s.WrittenInterval(t.Interval), "", "", "", t.Point.String()}
		if t.Speedup != nil {
			row[3], row[4] = fmt.Sprintf("%.2f×", *t.Speedup), page.RatioInterval(*t.SpeedupInterval)
		}
		if t.Best != nil {
			row[5] = page.WholePercent(*t.Best)
		}
		return row
	})
	return page.NewGrid(rows, "", s.Compared(), "95 % interval", "speedup", "95 % interval", "P(best)", "point")
}

func failureText(s *Summary) string {
	if len(s.Failures) == 0 {
		return ""
	}
	return " (" + strings.Join(collect.Each(s.Failures, func(f FailureGroup) string {
		return fmt.Sprintf("%d %s", f.Count, escape.Line(f.Reason))
	}), ", ") + ")"
}
