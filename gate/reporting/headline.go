package reporting

import (
	"fmt"
	"strings"

	"pawl/gate"
	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective"
)

// Headline is the run in one line: what became of it, the first kernel that it is about with figure and reason, and
// how many others there are.
func Headline(r *Report) string { return headline(r, "**", escape.Markdown) }

// PlainHeadline is the same without Markdown.
func PlainHeadline(r *Report) string { return headline(r, "", escape.Line) }

func headline(r *Report, mark string, outside func(string) string) string {
	line := func(word, text string, arguments ...any) string {
		return mark + word + mark + ": " + fmt.Sprintf(text, arguments...)
	}
	open := collect.Where(r.Results, Result.open)
	switch failing := collect.Where(r.FailuresFirst(), r.fails); {
	case r.Problem != "":
		return line("error", "%s", outside(r.Problem))
	case len(r.Results) == 0:
		return "nothing was compared"
	case len(failing) > 0:
		text := r.about(failing, "fails", "fail", outside)
		if first := failing[0]; first.open() && len(first.Changed) == 0 {
			text += "; the policy lets nothing undecided pass"
		}
		return line("fail", "%s", text)
	case !r.Finished():
		return line("incomplete", "%d of %d configurations were compared", len(r.Results), r.Planned)
	case len(open) > 0:
		return line("neutral", "%s", r.about(open, "is undecided", "are undecided", outside))
	}
	accepted := collect.Where(r.Results, func(s Result) bool { return s.AcceptedBy != "" })
	switch gains := r.with(gate.Improvement); {
	case len(accepted) > 0:
		return line("pass", "%s", r.about(accepted, "was accepted", "were accepted", outside))
	case len(gains) > 0:
		return line("pass", "%s", r.about(gains, "is faster", "are faster", outside))
	case r.Passed():
		return line("pass", "performance is maintained")
	}
	return line("pass", "no significant difference")
}

// longestSentence is how many characters a headline has about its first kernel; the row has all.
const longestSentence = 300

// about names the first of some results, with its reason, and counts the others and what is unchanged.
func (r *Report) about(results []Result, one, several string, outside func(string) string) string {
	first := results[0]
	sentence := []rune(first.Config() + ": " + first.Sentence())
	if len(sentence) > longestSentence {
		sentence = append(sentence[:longestSentence], '…')
	}
	parts := []string{outside(string(sentence))}
	switch more := len(results) - 1; {
	case more == 1:
		parts = append(parts, "1 more "+one)
	case more > 1:
		parts = append(parts, fmt.Sprintf("%d more %s", more, several))
	}
	if unchanged := r.Count(gate.Maintained, gate.NoDifference); unchanged > 0 {
		parts = append(parts, fmt.Sprintf("%d unchanged", unchanged))
	}
	return strings.Join(parts, "; ")
}

// Sentence is the reason of a result, with what a person has decided or has to decide.
func (r Result) Sentence() string {
	reason := r.Reason
	switch {
	case r.Verdict == gate.Wrong && r.Stage == objective.Compile:
		reason = "does not build: " + reason
	case r.Verdict == gate.Wrong || r.Verdict == gate.Infeasible:
		reason = fmt.Sprintf("%s: %s", r.Verdict, reason)
	}
	if len(r.Changed) > 0 && !r.Verdict.Fails() {
		reason = fmt.Sprintf("this changes its checks (%s)", strings.Join(r.Changed, ", "))
		if r.AcceptedBy == "" {
			reason += ", and nobody has accepted that"
		}
	}
	if r.Verdict == gate.Inconclusive && r.Evidence != nil && len(r.Changed) == 0 {
		reason = fmt.Sprintf("inconclusive at %s (%s): %s", page.Change(r.Evidence.Change),
			page.ChangeInterval(r.Evidence.Interval), reason)
	}
	if r.AcceptedBy != "" {
		reason += fmt.Sprintf(", accepted by %s: %s", r.AcceptedBy, r.AcceptedWhy)
	}
	return reason
}
