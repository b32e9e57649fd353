package reporting

import (
	"fmt"
	"io"
	"strings"

	"pawl/gate"
	"pawl/internal/escape"
	"pawl/internal/git"
	"pawl/internal/page"
)

// markdown is the page in the making.
type markdown struct{ page.Markdown }

// Markdown writes the page that a reviewer decides by.
func Markdown(w io.Writer, r *Report) error {
	m := &markdown{}
	m.Paragraph("# Ratchet report")
	m.Paragraph("%s", Headline(r))
	m.warnings(r)
	m.summary(r)
	m.section("Wrong results", r.with(gate.Wrong))
	m.section("Regressions", r.with(gate.Regression))
	m.section("Vanished", r.with(gate.Vanished))
	m.section(map[bool]string{
		true:  "Improvements, baseline updated",
		false: "Improvements, baseline not updated",
	}[r.Updated], r.with(gate.Improvement))
	m.section("Unchanged", r.with(gate.Maintained, gate.NoDifference))
	m.section("New", r.with(gate.New))
	m.section("Inconclusive", r.with(gate.Inconclusive))
	m.section("Infeasible", r.with(gate.Infeasible))
	m.Line("%s", legend)
	return m.Write(w)
}

// StepSummary writes the few lines that stand on the page of a CI run.
func StepSummary(w io.Writer, r *Report) error {
	m := &markdown{}
	m.Paragraph("### Ratchet: %s", Headline(r))
	m.warnings(r)
	var rows [][]string
	for _, result := range r.Results {
		c := result.Cells()
		rows = append(rows,
			[]string{escape.Markdown(result.Config()), string(result.Verdict), c.Change, c.Interval, c.P95,
				escape.Markdown(result.Reason)})
	}
	m.Table([]string{"config", "verdict", "change", "95 % interval", "p95", "why"}, rows)
	m.cost(r)
	return m.Write(w)
}

// Cells are the columns of the tables about results; P95 marks what is beyond its limit.
type Cells struct{ Baseline, Current, Change, Interval, P95, Delta, P string }

// Cells writes a result's figures, ~ for what is not known.
func (r Result) Cells() Cells {
	c := Cells{r.Objective.Text(r.Baseline), r.Objective.Text(r.Current), page.Unknown, page.Unknown, page.Unknown,
		page.Unknown, page.Unknown}
	if e := r.Evidence; e != nil {
		c.Change, c.Interval, c.Delta, c.P = page.Change(e.Change), page.ChangeInterval(e.Interval),
			fmt.Sprintf("%+.2f", e.Delta), probability(e.P)
	}
	for _, t := range r.Tails {
		if t.Quantile == 0.95 {
			c.P95 = page.Change(t.Change)
			if t.Slower {
				c.P95 += " !"
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

// warnings are about the whole run.
func (m *markdown) warnings(r *Report) {
	for _, warning := range r.Warnings {
		m.Paragraph("**Warning**: %s.", escape.Markdown(warning))
	}
}

// cost is what the run's machine has taken, where one was woken.
func (m *markdown) cost(r *Report) {
	if r.Cost != nil {
		m.Paragraph("%s", r.Cost.Markdown())
	}
}

func (m *markdown) summary(r *Report) {
	rows := [][]string{{"configurations", fmt.Sprint(len(r.Results))}}
	for _, verdict := range gate.Verdicts {
		if n := r.Count(verdict); n > 0 {
			rows = append(rows, []string{string(verdict), fmt.Sprint(n)})
		}
	}
	m.Table([]string{"", "configurations"}, rows)
	at := ""
	if r.Commit != "" {
		at = ", commit " + escape.Markdown(ShortCommit(r.Commit))
	}
	if r.Base != "" {
		at += ", compared with commit " + escape.Markdown(ShortCommit(r.Base))
	}
	m.Paragraph("On %s, %s%s.", escape.Markdown(r.Device), r.Time.Format("2006-01-02 15:04 MST"), at)
	m.cost(r)
}

// ShortCommit is a commit as people write it.
func ShortCommit(commit string) string {
	hash, changed := git.Hash(commit)
	if hash = hash[:min(12, len(hash))]; changed {
		hash += " with changes"
	}
	return hash
}

// section writes the results of a kind, and why each was judged as it was.
func (m *markdown) section(title string, results []Result) {
	if len(results) == 0 {
		return
	}
	m.Paragraph("## %s", title)
	var rows [][]string
	for _, r := range results {
		c := r.Cells()
		rows = append(rows,
			[]string{escape.Markdown(r.Config()), c.Baseline, c.Current, c.Change, c.Interval, c.P95, c.Delta, c.P,
				string(r.Verdict)})
	}
	m.Table([]string{"config", "baseline", "current", "change", "95 % interval", "p95", "δ", "p", "verdict"}, rows)
	for _, r := range results {
		m.Line("- **%s**: %s.", escape.Markdown(r.Config()), escape.Markdown(r.Reason))
		m.details(r)
	}
	m.Line("")
}

// details writes the facts behind a verdict.
func (m *markdown) details(r Result) {
	m.Line("  Point %s%s.", escape.Code(r.Point), against(r))
	m.why(r)
	if r.Method != "" && r.Evidence != nil {
		rounds := ""
		if n := r.Evidence.Rounds; n > 0 {
			rounds = fmt.Sprintf(", %d rounds in fresh processes", n)
		}
		m.Line("  Measured: %s%s.", r.Method, rounds)
	}
	if seen := r.Smallest(); seen != "" {
		m.Line("  The smallest regression that would have been seen: %s.", seen)
	}
	if c := r.Control; c != nil {
		m.Line("  A/A control: %s (p = %s).", page.Change(c.Change), probability(c.P))
	}
	if c := r.Confirmation; c != nil {
		m.Line("  Second measurement: %s (%s).", page.Change(c.Change), page.ChangeInterval(c.Interval))
	}
	if o := r.Best; o != nil {
		m.Line("  Against the best accepted entry: %s (%s).", page.Change(o.Change), page.ChangeInterval(o.Interval))
	}
	for _, t := range r.Tails {
		m.Line("  The slowest calls, %s: %s to %s, %s (%s, p = %s, limit %s).", t.Name(), r.Objective.Text(t.Baseline),
			r.Objective.Text(t.Candidate), page.Change(t.Change), page.ChangeInterval(t.Interval), probability(t.P),
			page.Percent(t.Limit))
	}
	for _, arm := range []gate.Arm{gate.Baseline, gate.Candidate, gate.Control, gate.Best} {
		if c := r.Conditions[arm]; c != nil {
			m.Line("  While the %s was measured: %s.", arm, escape.Markdown(c.String()))
		}
	}
	for _, note := range r.Notes {
		m.Line("  Note: %s.", escape.Markdown(note))
	}
	if r.Command != "" {
		m.Line("  Again: %s.", escape.Code(r.Command))
	}
}

// whyChanges is how many changed figures stand on the page; JSON has more.
const whyChanges = 5

// why says where a difference comes from.
func (m *markdown) why(r Result) {
	if r.Why == nil {
		return
	}
	m.Line("  Why: %s", escape.Markdown(r.Why.Why))
	if r.Why.Profiled {
		m.Line("  What limits the baseline: %s What limits the candidate: %s", escape.Markdown(r.Why.Before.Text),
			escape.Markdown(r.Why.After.Text))
	}
	var changes []string
	for _, c := range r.Why.Changes[:min(len(r.Why.Changes), whyChanges)] {
		changes = append(changes, escape.Markdown(c.Name+": "+c.Text))
	}
	if len(changes) > 0 {
		m.Line("  What changed: %s.", strings.Join(changes, "; "))
	}
}

func against(r Result) string {
	text := ""
	if r.BaselinePoint != "" && r.BaselinePoint != r.Point {
		text = ", against " + escape.Code(r.BaselinePoint)
	}
	if r.BaselineCommit != "" {
		text += ", baseline of commit " + escape.Markdown(ShortCommit(r.BaselineCommit))
	}
	return text
}

const legend = "A change is (baseline − current) / baseline: positive means faster. Where both sides were measured " +
	"together, baseline and current are what a typical round took, by the statistic that is compared, and differ by " +
	"exactly the change; p95 is the change of the slowest calls, a warning beyond its limit. δ is Cliff's, positive " +
	"means that the candidate is faster. p is the chance of such a difference between equal sides. Each configuration " +
	"was compared by its own policy; see docs/gate.md for the rules."
