package reporting

import (
	"fmt"
	"strings"

	"pawl/gate"
	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
)

// Headline is the run in one sentence.
func Headline(r *Report) string {
	switch {
	case r.Problem != "":
		return "**error**: " + escape.Markdown(r.Problem)
	case len(r.Results) == 0:
		return "nothing was compared"
	case r.Count(gate.Wrong) > 0:
		return fmt.Sprintf("**fail**: %s that is wrong or does not build", page.Count(r.Count(gate.Wrong), "configuration"))
	case r.Count(gate.Regression) > 0:
		return fmt.Sprintf("**fail**: %s", page.Count(r.Count(gate.Regression), "regression"))
	case r.Count(gate.Vanished) > 0:
		return fmt.Sprintf("**fail**: %s of the base not compared", page.Count(r.Count(gate.Vanished), "configuration"))
	case !r.Finished():
		return fmt.Sprintf("**incomplete**: %d of %d configurations were compared", len(r.Results), r.Planned)
	case r.Failed():
		return fmt.Sprintf("**fail**: %s, and the policy lets nothing undecided pass", undecided(r))
	case !r.Decided():
		return "**neutral**: " + undecided(r)
	case r.Count(gate.Improvement) > 0:
		return fmt.Sprintf("**pass**: %s", page.Count(r.Count(gate.Improvement), "improvement"))
	case r.Passed():
		return "**pass**: performance is maintained"
	}
	return "**pass**: no significant difference"
}

// PlainHeadline is the run in one sentence, without Markdown.
func PlainHeadline(r *Report) string { return strings.ReplaceAll(Headline(r), "**", "") }

// undecided says what nothing is known about.
func undecided(r *Report) string {
	var parts []string
	for _, part := range []struct {
		verdict    gate.Verdict
		noun, what string
	}{
		{gate.Infeasible, "configuration", "infeasible"},
		{gate.Inconclusive, "comparison", "inconclusive"},
		{gate.New, "configuration", "with no baseline to compare with"},
	} {
		if n := r.Count(part.verdict); n > 0 {
			parts = append(parts, page.Count(n, part.noun)+" "+part.what)
		}
	}
	changed := len(collect.Where(r.Results, func(s Result) bool { return len(s.Changed) > 0 && s.open() }))
	if changed > 0 {
		parts = append(parts, page.Count(changed, "configuration")+" whose checks this changes")
	}
	return strings.Join(parts, ", ")
}
