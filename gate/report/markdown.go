package report

import (
	"fmt"
	"io"
	"strings"

	"pawl/gate"
	"pawl/internal/escape"
	"pawl/internal/page"
)

// Markdown writes the page that a reviewer decides by.
func Markdown(w io.Writer, r *Report) error {
	m := &markdown{}
	m.line("# Ratchet report")
	m.line("")
	m.line("%s", Headline(r))
	m.line("")
	m.summary(r)
	m.section("Wrong results", r.with(gate.Wrong))
	m.section("Regressions", r.with(gate.Regression))
	m.section(improvementsTitle(r), r.with(gate.Improvement))
	m.section("Unchanged", r.with(gate.Maintained, gate.NoDifference))
	m.section("New", r.with(gate.New))
	m.section("Inconclusive", r.with(gate.Inconclusive))
	m.legend(r)
	_, err := io.WriteString(w, m.text.String())
	return err
}

// StepSummary writes the few lines that stand on the page of a CI run.
func StepSummary(w io.Writer, r *Report) error {
	m := &markdown{}
	m.line("### Ratchet: %s", Headline(r))
	m.line("")
	m.table([]string{"config", "verdict", "change", "95 % interval", "p95", "why"}, func(yield func([]string)) {
		for _, result := range r.Results {
			yield([]string{result.Config(), string(result.Verdict), Change(result), Interval(result), TailChange(result), result.Reason})
		}
	})
	_, err := io.WriteString(w, m.text.String())
	return err
}

// Headline is the run in one sentence.
func Headline(r *Report) string {
	switch {
	case len(r.Results) == 0:
		return "nothing was compared"
	case r.Count(gate.Wrong) > 0:
		return fmt.Sprintf("**fail**: %s with wrong results", page.Count(r.Count(gate.Wrong), "configuration"))
	case r.Failed():
		return fmt.Sprintf("**fail**: %s", page.Count(r.Count(gate.Regression), "regression"))
	case r.Count(gate.Improvement) > 0:
		return fmt.Sprintf("**pass**: %s", page.Count(r.Count(gate.Improvement), "improvement"))
	case r.Passed():
		return "**pass**: performance is maintained"
	case r.Count(gate.Inconclusive) > 0:
		return fmt.Sprintf("**open**: %s inconclusive", page.Count(r.Count(gate.Inconclusive), "comparison"))
	case r.Count(gate.New) > 0:
		return fmt.Sprintf("**open**: %s with nothing to compare with", page.Count(r.Count(gate.New), "configuration"))
	}
	return "**no significant difference**"
}

func improvementsTitle(r *Report) string {
	if r.Updated {
		return "Improvements, baseline updated"
	}
	return "Improvements, baseline not updated"
}

// markdown collects the page's text.
type markdown struct{ text strings.Builder }

func (m *markdown) line(format string, arguments ...any) {
	fmt.Fprintf(&m.text, format+"\n", arguments...)
}

// table writes a table; cells are text and may hold anything.
func (m *markdown) table(header []string, rows func(yield func([]string))) {
	m.line("| %s |", strings.Join(header, " | "))
	m.line("|%s", strings.Repeat("---|", len(header)))
	rows(func(row []string) {
		for i, cell := range row {
			row[i] = escape.Cell(escape.Markdown(cell))
		}
		m.line("| %s |", strings.Join(row, " | "))
	})
	m.line("")
}

func (m *markdown) summary(r *Report) {
	m.table([]string{"", "configurations"}, func(yield func([]string)) {
		yield([]string{"configurations", fmt.Sprint(len(r.Results))})
		for _, verdict := range gate.Verdicts {
			if n := r.Count(verdict); n > 0 {
				yield([]string{string(verdict), fmt.Sprint(n)})
			}
		}
	})
	m.line("On %s, %s%s.", escape.Markdown(r.Device), r.Time.Format("2006-01-02 15:04 MST"), at(r.Commit))
	m.line("")
}

func at(commit string) string {
	if commit == "" {
		return ""
	}
	return ", commit " + escape.Markdown(shortCommit(commit))
}

func shortCommit(commit string) string {
	hash, dirty := strings.CutSuffix(commit, "-dirty")
	if len(hash) > 12 {
		hash = hash[:12]
	}
	if dirty {
		hash += " with changes"
	}
	return hash
}

// section writes the results of a kind, and why each was judged as it was.
func (m *markdown) section(title string, results []Result) {
	if len(results) == 0 {
		return
	}
	m.line("## %s", title)
	m.line("")
	m.table([]string{"config", "baseline", "current", "change", "95 % interval", "p95", "δ", "p", "verdict"}, func(yield func([]string)) {
		for _, r := range results {
			yield([]string{r.Config(), page.Milliseconds(r.Baseline), page.Milliseconds(r.Current), Change(r), Interval(r), TailChange(r), delta(r), chance(r), string(r.Verdict)})
		}
	})
	for _, r := range results {
		m.line("- **%s**: %s.", escape.Markdown(r.Config()), escape.Markdown(r.Reason))
		m.details(r)
	}
	m.line("")
}

// details writes the facts that a doubter asks for.
func (m *markdown) details(r Result) {
	m.line("  Point %s%s.", escape.Code(r.Point), against(r))
	if r.Method != "" && r.Evidence != nil {
		m.line("  Measured: %s%s.", r.Method, rounds(r))
	}
	if seen := Smallest(r); seen != "" {
		m.line("  The smallest regression that would have been seen: %s.", seen)
	}
	if c := r.Control; c != nil {
		m.line("  A/A control: %s (p = %s).", page.Change(c.Change), probability(c.P))
	}
	if c := r.Confirmation; c != nil {
		m.line("  Second measurement: %s (%s).", page.Change(c.Change), page.ChangeInterval(c.Interval))
	}
	if o := r.Oldest; o != nil {
		m.line("  Against the oldest accepted release: %s (%s).", page.Change(o.Change), page.ChangeInterval(o.Interval))
	}
	for _, t := range r.Tails {
		m.line("  The slowest calls, %s: %s to %s, %s (%s, p = %s, limit %s).", t.Name(), page.Milliseconds(t.Baseline), page.Milliseconds(t.Candidate), page.Change(t.Change), page.ChangeInterval(t.Interval), probability(t.P), page.Percent(t.Limit))
	}
	for _, note := range r.Notes {
		m.line("  Note: %s.", escape.Markdown(note))
	}
}

func against(r Result) string {
	text := ""
	if r.BaselinePoint != "" && r.BaselinePoint != r.Point {
		text = ", against " + escape.Code(r.BaselinePoint)
	}
	if r.BaselineCommit != "" {
		text += ", baseline of commit " + escape.Markdown(shortCommit(r.BaselineCommit))
	}
	return text
}

func rounds(r Result) string {
	if r.Evidence.Rounds == 0 {
		return ""
	}
	return fmt.Sprintf(", %d rounds in fresh processes", r.Evidence.Rounds)
}

func (m *markdown) legend(r *Report) {
	m.line("A change is (baseline − current) / baseline: positive means faster. Where both sides were measured together, baseline and current are what a typical round took, by the statistic that is compared, and differ by exactly the change; p95 is the change of the slowest calls, a warning beyond its limit. δ is Cliff's, positive means that the candidate is faster. p is the chance of such a difference between equal sides. Each configuration was compared by its own policy; see docs/gate.md for the rules.")
}
