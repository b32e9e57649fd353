package report

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/kernels"
)

// markdown is the page in the making.
type markdown struct {
	page.Markdown
	folded bool // a part is open that a reader unfolds
}

// Markdown writes suggestions.md: what a reviewer decides by, in a minute, and the rest folded. The pictures are on the
// HTML page.
func Markdown(w io.Writer, s *Summary) error {
	m := &markdown{}
	m.head(s)
	m.risks(s)
	m.apply(s)
	m.notes(s)
	m.finalists(s)
	m.ablation(s)
	m.gate(s)
	m.why(s)
	m.across(s)
	m.builds(s)
	m.failures(s)
	m.background(s)
	m.unfold()
	return m.Write(w)
}

// fold begins a part that a reader unfolds.
func (m *markdown) fold(title string) {
	m.unfold()
	m.Paragraph("<details><summary>%s</summary>", title)
	m.folded = true
}

func (m *markdown) unfold() {
	if m.folded {
		m.Paragraph("</details>")
	}
	m.folded = false
}

// text and code write what is not ours, in a sentence or as code.
func text(outside string) string { return escape.Markdown(outside) }
func code(outside string) string { return escape.Code(outside) }

// head is the verdict, what the winner gains, and what it changes.
func (m *markdown) head(s *Summary) {
	m.Paragraph("# %s, %s: %s", text(s.Study.Kernel), text(s.Study.Workload), s.Standing())
	if s.Sources != nil {
		m.Paragraph("%s", text(s.Sources.Sentence))
	}
	m.Paragraph("%s", text(s.Advice.Sentence))
	if s.Evidence == nil {
		return
	}
	m.Paragraph("**%s**", text(s.Figures()))
	if !s.Advice.Verdict.Usable() {
		return
	}
	var diff []string
	for _, c := range changes(s.Default.Point, s.Winner.Point) {
		diff = append(diff, fmt.Sprintf("-  %s: {default: %s}\n+  %s: {default: %s}", c.Name, c.From, c.Name, c.To))
	}
	m.Code("diff", " params:\n"+strings.Join(diff, "\n"))
}

// risks says in three lines what the winner was checked on, where else it was measured, and what to know before
// trusting it.
func (m *markdown) risks(s *Summary) {
	if s.Evidence == nil {
		return
	}
	m.Line("- Results: %s", text(resultsText(s)))
	elsewhere := ungated(s)
	if s.Across != nil {
		elsewhere = strings.TrimSpace(s.Across.Advice + " " + elsewhere)
	}
	if elsewhere != "" {
		m.Line("- Elsewhere: %s", text(elsewhere))
	}
	cost := fmt.Sprintf("- Cost: %s of tuning, %s", page.Seconds(s.Search.Seconds), page.Count(s.Search.Asked, "trial"))
	if n := len(s.Warnings); n > 0 {
		cost += fmt.Sprintf("; %s below", page.Count(n, "note"))
	}
	m.Paragraph("%s.", cost)
}

// resultsText compares how close to the tolerance the default and the winner came.
func resultsText(s *Summary) string {
	c := s.Winner.Checked
	switch {
	case c == nil:
		return unchecked(s)
	case c.Program || s.Default.Checked == nil:
		return c.sentence()
	}
	return fmt.Sprintf("right on %d cases each; the worst error goes from %s to %s of the tolerance.", len(c.Cases),
		s.Default.Checked.worstText(), c.worstText())
}

// How a winner was applied, behind the time.
const OnBranch, WithManifest = " on branch ", " with --manifest"

// apply says how to get what was measured, and how to undo it.
func (m *markdown) apply(s *Summary) {
	g, lead, undo := s.applicable(), "Apply it:", "delete it"
	restore := code(escape.Shell("git", "checkout", "--", path.Join(s.Study.Origin, kernels.ManifestName)))
	if s.Study.Applied != "" {
		lead = fmt.Sprintf("Applied %s. Again:", text(s.Study.Applied))
	}
	switch applied := s.Study.Applied; {
	case strings.Contains(applied, OnBranch):
		undo, restore = "delete the branch", "delete the branch"
	case strings.HasSuffix(applied, WithManifest):
		undo += ", and " + restore
	}
	switch {
	case Withheld(s) != "":
		m.Paragraph("%s", Withheld(s))
	case g == nil || s.Advice.Verdict == Promising:
	case g.Header == "" && len(s.Across.Of(AcrossFails)) > 0:
		m.Paragraph("It cannot become the manifest's default, because it fails on another workload.")
	case g.Header == "":
		m.Paragraph("%s %s. Undo it: %s.", lead, code(s.applying()), restore)
	default:
		file, more := g.Header, ""
		if !slices.Contains(kernels.Names(), s.Study.Origin) {
			file, more = path.Join(s.Study.Origin, g.Header), ", and with `--manifest` makes the change above"
		}
		m.Paragraph("%s %s writes %s%s. Compile the source with that header, as below. Undo it: %s.", lead,
			code(s.applying()), code(file), more, undo)
		m.Code("sh", g.Command)
	}
}

// applying is the command that applies the winner. A default holds for all workloads, so that it is measured on them
// before.
func (s *Summary) applying() string {
	words := []string{"pawl", "apply", fmt.Sprint(s.Study.ID)}
	before := ""
	if s.Suggestion.Header == "" {
		words = append(words, "--manifest")
		if len(s.Across.Of(AcrossUnmeasured)) > 0 {
			before = fmt.Sprintf("pawl studies across %d && ", s.Study.ID)
		}
	}
	if len(s.Across.Of(AcrossSlower, AcrossFails)) > 0 {
		words = append(words, "--worst-loss", "100%")
	}
	return before + escape.Shell(words...)
}

func (m *markdown) notes(s *Summary) {
	if len(s.Warnings) == 0 {
		return
	}
	m.fold(page.Count(len(s.Warnings), "note"))
	for _, warning := range s.Warnings {
		m.Line("- %s", text(warning))
	}
	m.Line("")
}

func (m *markdown) builds(s *Summary) {
	g := s.Suggestion
	if g == nil || g.Header != "" && g.Libraries == "" && launchText(s.Winner) == "" {
		return
	}
	m.fold("Build it by hand")
	if g.Header == "" {
		m.Paragraph("In the kernel's folder:")
		m.Code("sh", g.Command)
		return
	}
	if g.Libraries != "" {
		m.Paragraph("Link with %s.", code(g.Libraries))
	}
	if launch := launchText(s.Winner); launch != "" {
		m.Paragraph("%s", launch)
	}
}

// finalists is what was measured of the default and of those that were compared with it.
func (m *markdown) finalists(s *Summary) {
	if len(s.Top) == 0 {
		return
	}
	title := "The finalists"
	if s.Winner == nil {
		title = "The best trials, unconfirmed"
	}
	m.fold(title)
	var rows [][]string
	for _, t := range s.Rows() {
		rows = append(rows, slices.Concat([]string{t.Name}, s.Cells(t.Timed), []string{code(t.Point.String()), t.Needs()}))
	}
	m.Table(slices.Concat([]string{""}, s.timedHead(), []string{"point", "needs"}), rows)
	if e := s.Evidence; e != nil {
		m.Paragraph("%s it is the median over the %d rounds of the ratio inside each, which is not quite the ratio of the "+
			"medians. Cliff's δ is %.2f (%s): it compares every sample of the default with every sample of the winner, and 1 "+
			"means that the winner is always faster. P(best) is the probability of being the best of these, shared equally by "+
			"those that differ no more than by chance. Each round "+
			"measured all in random order, %s.", speedupMeaning(s), e.Rounds, e.Delta, e.Magnitude, inRounds(s.Study))
	}
}

// timedHead are the columns of a point's figures.
func (s *Summary) timedHead() []string {
	return []string{s.Compared(), "95 % interval", "CV (robust CV)", "speedup", "P(best)", "throughput"}
}

// Cells are the figures of a point, in the order of the columns.
func (s *Summary) Cells(t Timed) []string {
	speedup, best := page.Unknown, page.Unknown
	if t.Speedup != nil {
		speedup = fmt.Sprintf("%.2f× (%s)", *t.Speedup, page.RatioInterval(*t.SpeedupInterval))
	}
	if t.Best != nil {
		best = page.WholePercent(*t.Best)
	}
	return []string{s.Written(t.Milliseconds), s.WrittenInterval(t.Interval),
		page.Percent(t.CV) + " (" + page.RobustCV(page.Percent(t.Variation), t.Samples) + ")", speedup, best, Throughput(&t)}
}

func (m *markdown) ablation(s *Summary) {
	if len(s.Ablation) == 0 {
		return
	}
	m.fold("What each change is worth")
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

func (m *markdown) failures(s *Summary) {
	if len(s.Failures) == 0 {
		return
	}
	m.fold("What failed")
	var rows [][]string
	for _, f := range s.Failures {
		rows = append(rows,
			[]string{fmt.Sprint(f.Count), text(string(f.Stage)), text(f.Reason), code(f.Example.String()), code(f.Detail)})
	}
	m.Table([]string{"count", "stage", "reason", "for example", "detail"}, rows)
}

func (m *markdown) background(s *Summary) {
	m.fold("How this was found")
	for _, f := range background(s) {
		m.Line("- %s:%s%s", f.What, strings.TrimRight(" "+text(f.Text), " "), strings.TrimRight(" "+code(f.Code), " "))
	}
	m.Line("")
	m.Paragraph("Reproduce it with:")
	m.Code("sh", s.Study.Command)
}
