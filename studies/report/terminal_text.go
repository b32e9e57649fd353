package report

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
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
	"notesHere": func() string { return notesHere },
	"timed":     timedGrid,
	"points":    pointLines,
	"measured":  measuredLines,
	"checked":   (*Checked).sentence,
	"elsewhere": func(s *Summary) *page.Grid {
		return page.NewGrid(acrossRows(s, strings.ToUpper, escape.Line), acrossHeader...)
	},
	"failures": failureText,
	"again":    machineFaultCount,
	"failed":   failureLines,
	"regret":   regretText,
	"dead":     deadText,
}).Parse(terminalSource))

// Text writes the result for a terminal. What is read last stays in sight, so the answer is at the end: what the search
// did, notes, the weightiest first, the figures, and then the verdict, what it changes and the next command.
func Text(w io.Writer, s *Summary, files Files) {
	var text strings.Builder
	if err := terminal.Execute(&text, s); err != nil {
		panic("report: " + err.Error()) // a builder takes everything
	}
	above, below, found := strings.Cut(text.String(), notesHere)
	if !found {
		panic("report: the terminal's template has no place for the notes")
	}
	fmt.Fprint(w, above)
	for _, note := range terminalNotes(s) {
		page.Toned(w, page.Warning, "", "Note:", " "+escape.Line(note))
	}
	fmt.Fprint(w, below)
	if len(files.Written) > 0 {
		fmt.Fprintln(w)
	}
	files.Text(w)
	answer(w, s)
}

// notesHere is where the template has the notes, which are written line by line.
const notesHere = "\x00notes\x00"

// terminalNotes are the gate's notes about the winner, and the warnings.
func terminalNotes(s *Summary) (notes []string) {
	if s.Gate != nil {
		notes = slices.Clone(s.Gate.Notes)
	} else if text := ungated(s); text != "" {
		notes = []string{text}
	}
	return append(notes, s.Warnings...)
}

// answer writes the end: the verdict, the figures, the change and the next command.
func answer(w io.Writer, s *Summary) {
	subject := fmt.Sprintf("%s, workload %s: ", escape.Line(s.Study.Kernel), escape.Line(s.Study.Workload))
	fmt.Fprintln(w)
	page.Toned(w, s.Advice.Verdict.line(), subject, s.Standing(), "")
	if s.Sources != nil {
		fmt.Fprintln(w, escape.Line(s.Sources.Sentence))
	}
	if figures := s.Figures(); figures != "" {
		fmt.Fprintln(w, figures+" over the default")
	}
	words, command := Entry{Action: action(s)}.ToDo()
	sentence := s.Advice.Sentence
	if command != "" { // it is on a line of its own, to be copied
		sentence = strings.Replace(sentence, command+" ", "The command below ", 1)
	}
	fmt.Fprintln(w, escape.Line(sentence))
	if s.Advice.Verdict.Usable() {
		changes := collect.Each(Changes(s.Default.Point, s.Winner.Point), Change.String)
		fmt.Fprintf(w, "change: %s\n", escape.Line(strings.Join(changes, ", ")))
	}
	switch {
	case Withheld(s) != "":
		fmt.Fprintln(w, Withheld(s))
	case command != "":
		fmt.Fprintf(w, "%s\n  %s\n", strings.TrimSpace("Next: "+escape.Line(words)), escape.Line(command))
	case words != "":
		fmt.Fprintf(w, "Next: %s\n", escape.Line(words))
	}
}

// line is the tone of a verdict on a terminal.
func (v Verdict) line() page.Tone {
	switch v.Tone() {
	case "good":
		return page.Good
	case "bad":
		return page.Bad
	}
	return page.Warning
}

// Text says for a terminal which files were changed: the first, which is the page to read, and how many more.
func (f Files) Text(w io.Writer) {
	if n := len(f.Written) - 1; n >= 0 {
		more := ""
		if n > 0 {
			more = fmt.Sprintf(" and %s", page.Count(n, "more file"))
		}
		fmt.Fprintf(w, "wrote %s%s\n", f.Written[0], more)
	}
	if f.Removed != "" {
		fmt.Fprintf(w, "removed %s, the header of what is no longer suggested\n", f.Removed)
	}
}

// timedGrid are the figures of the default and the finalists. It fits 80 columns: the points are below it.
func timedGrid(s *Summary) *page.Grid {
	var times []float64
	for _, t := range s.Rows() {
		times = append(times, t.Milliseconds)
	}
	unit, column := s.Study.Environment.Objective.First().Column(times...)
	rows := collect.Each(s.Rows(), func(t Named) []string {
		interval := s.WrittenInterval(t.Interval)
		if unit != "" {
			interval = page.IntervalIn(t.Interval, column)
		}
		row := []string{t.Name, column(t.Milliseconds), interval, "", "", ""}
		if t.Speedup != nil {
			row[3], row[4] = fmt.Sprintf("%.2f×", *t.Speedup), page.RatioInterval(*t.SpeedupInterval)
		}
		if t.Best != nil {
			row[5] = page.WholePercent(*t.Best)
		}
		return row
	})
	head := s.Compared()
	if unit != "" {
		head += ", " + unit
	}
	return page.NewGrid(rows, "", head, "95 % interval", "speedup", "95 % interval", "P(best)")
}

// pointColumns is how wide the points below a table are.
const pointColumns = 76

// pointLines are the points of the table's rows, each by what differs from the default.
func pointLines(s *Summary) (lines []string) {
	for _, t := range s.Rows() {
		if t.Name == "default" {
			continue
		}
		for i, part := range page.Wrap(escape.Line(t.Point.Besides(s.initial)), pointColumns) {
			name := t.Name
			if i > 0 {
				name = ""
			}
			lines = append(lines, fmt.Sprintf("  %-2s %s", name, part))
		}
	}
	return lines
}

// failureLines say what failed, a line for each kind: how often, and where.
func failureLines(s *Summary) []string {
	return collect.Each(s.Failures, func(f FailureGroup) string {
		text := escape.Line(f.Reason)
		if f.Shared != nil {
			return text + ": " + escape.Line(f.Shared.String())
		}
		return text + ", such as " + escape.Line(f.Example.Besides(s.initial))
	})
}

// failureText counts the failures in parentheses; empty where there are none.
func failureText(s *Summary) string {
	if len(s.Failures) == 0 {
		return ""
	}
	return " (" + strings.Join(collect.Each(s.Failures, func(f FailureGroup) string {
		return fmt.Sprintf("%d %s", f.Count, escape.Line(f.Reason))
	}), ", ") + ")"
}
