package report

import (
	_ "embed"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"text/template"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/kernels"
	"pawl/objective/profile"
	"pawl/studies"
)

//go:embed suggestions.md.tmpl
var suggestionsSource string

var suggestions = page.Markdown(suggestionsSource, template.FuncMap{
	"diff":       diffText,
	"results":    resultsText,
	"elsewhere":  elsewhere,
	"applied":    howToApply,
	"finalists":  finalistsGrid,
	"meaning":    speedupMeaning,
	"inRounds":   inRounds,
	"ablation":   ablationGrid,
	"data":       dataGrid,
	"gated":      func(s *Summary) *page.Grid { return page.NewGrid(gateRows(s, code, text), gateHeader...) },
	"against":    func(g *studies.Gating) string { return Against(*g) },
	"unstopped":  func(sentence string) string { return strings.TrimSuffix(sentence, ".") },
	"number":     func(i int) int { return i + 1 },
	"limits":     limitsGrid,
	"differ":     differencesGrid,
	"across":     func(s *Summary) *page.Grid { return page.NewGrid(acrossRows(s, bold, text), acrossHeader...) },
	"launch":     launchText,
	"failures":   failuresGrid,
	"background": background,
})

// Markdown writes suggestions.md: what a reviewer decides by, in a minute, and the rest folded. The pictures are on the
// HTML page.
func Markdown(w io.Writer, s *Summary) error { return suggestions.Execute(w, s) }

// text and code write what is not ours, in a sentence or as code.
func text(outside string) string { return escape.Markdown(outside) }
func code(outside string) string { return escape.Code(outside) }
func bold(text string) string    { return "**" + text + "**" }

// diffText is what the winner changes, as in the manifest.
func diffText(s *Summary) string {
	return " params:\n" + strings.Join(collect.Each(Changes(s.Default.Point, s.Winner.Point), func(c Change) string {
		return fmt.Sprintf("-  %s: {default: %s}\n+  %s: {default: %s}", c.Name, c.From, c.Name, c.To)
	}), "\n")
}

// elsewhere says where else the winner was measured, and what it was not compared with.
func elsewhere(s *Summary) string {
	if s.Across == nil {
		return ungated(s)
	}
	return strings.TrimSpace(s.Across.Advice + " " + ungated(s))
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

// howToApply says how to get what was measured, and how to undo it; empty where there is nothing to say.
func howToApply(s *Summary) string {
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
		return Withheld(s)
	case g == nil || s.Advice.Verdict == Promising:
		return ""
	case g.Header == "" && len(s.Across.Of(AcrossFails)) > 0:
		return "It cannot become the manifest's default, because it fails on another workload."
	case g.Header == "":
		return fmt.Sprintf("%s %s. Undo it: %s.", lead, code(s.applying()), restore)
	}
	file, more := g.Header, ""
	if !slices.Contains(kernels.Names(), s.Study.Origin) {
		file, more = path.Join(s.Study.Origin, g.Header), ", and with `--manifest` makes the change above"
	}
	return fmt.Sprintf("%s %s writes %s%s. Compile the source with that header, as below. Undo it: %s.\n\n%s", lead,
		code(s.applying()), code(file), more, undo, escape.Fence("sh", g.Command))
}

// applying is the command that applies the winner. A default holds for all workloads, so that it is measured on them
// before.
func (s *Summary) applying() string {
	words := []any{"apply", s.Study.ID}
	before := ""
	if s.Suggestion.Header == "" {
		words = append(words, "--manifest")
		if len(s.Across.Of(AcrossUnmeasured)) > 0 {
			before = s.Study.Place.Pawl("studies", "across", s.Study.ID) + " && "
		}
	}
	if len(s.Across.Of(AcrossSlower, AcrossFails)) > 0 {
		words = append(words, "--worst-loss", "100%")
	}
	return before + s.Study.Place.Pawl(words...)
}

// finalistsGrid is what was measured of the default and of those that were compared with it.
func finalistsGrid(s *Summary) *page.Grid {
	rows := collect.Each(s.Rows(), func(t Named) []string {
		return slices.Concat([]string{t.Name}, s.Cells(t.Timed), []string{code(t.Point.String()), t.Needs()})
	})
	return page.NewGrid(rows, slices.Concat([]string{""}, s.timedHead(), []string{"point", "needs"})...)
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

func ablationGrid(s *Summary) *page.Grid {
	var rows [][]string
	for i, step := range s.Ablation {
		worth := ""
		if i > 0 {
			worth = fmt.Sprintf("%.2f× (%s)", step.Speedup, page.RatioInterval(step.Interval))
		}
		rows = append(rows,
			[]string{text(step.name()), s.Written(step.Milliseconds), worth, fmt.Sprintf("%.2f×", step.Total)})
	}
	return page.NewGrid(rows, "change", text(s.Compared()), "this step", "so far")
}

func limitsGrid(w *Why) *page.Grid {
	return page.NewGrid([][]string{{"default", text(w.Before.Text)}, {"winner", text(w.After.Text)}}, "", "what limits it")
}

func differencesGrid(w *Why) *page.Grid {
	rows := collect.Each(w.Changes, func(c profile.Change) []string { return []string{text(c.Name), text(c.Text)} })
	return page.NewGrid(rows, "from the default to the winner", "")
}

func failuresGrid(s *Summary) *page.Grid {
	rows := collect.Each(s.Failures, func(f FailureGroup) []string {
		return []string{fmt.Sprint(f.Count), text(string(f.Stage)), text(f.Reason), code(f.Example.String()), code(f.Detail)}
	})
	return page.NewGrid(rows, "count", "stage", "reason", "for example", "detail")
}
