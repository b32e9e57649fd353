package report

import (
	"fmt"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/studies"
)

// The speedup of a study is over the manifest's default, which is not always what is run
// today. The gate knows that: the baseline. What it said about the winner is a part of the
// advice, and outranks it.

// Verdicts that the gate's word leads to.
const (
	// Running: the winner is what is run today.
	Running Verdict = "you already run this"
	// NoGain: the winner is no faster than what is run today.
	NoGain Verdict = "no gain over what you run"
	// Refused: the winner is wrong, or slower than what is run today.
	Refused Verdict = "refused by the gate"
)

// takeGatings keeps the last word about the winner, and the last words about what else
// was gated.
func (s *Summary) takeGatings(gatings []studies.Gating) {
	for i, g := range gatings {
		again := func(later studies.Gating) bool { return later.Point == g.Point && later.Workload == g.Workload }
		switch {
		case slices.ContainsFunc(gatings[i+1:], again):
		case s.Winner != nil && g.Point == s.Winner.Point && g.Workload == s.Study.Workload:
			s.Gate = &gatings[i]
		default:
			s.Gated = append(s.Gated, g)
		}
	}
}

// withGate is an advice in the light of what the gate said about the winner.
func withGate(a Advice, s *Summary) Advice {
	g := s.Gate
	if g == nil {
		return a
	}
	against := Against(*g)
	switch {
	case g.Standing == studies.Refused:
		return Advice{Refused,
			fmt.Sprintf("Do not apply it. Against what you run today: %s: %s.", against, strings.TrimSuffix(g.Reason, "."))}
	case g.Standing == studies.Running:
		return Advice{Running, "You already run this: the baseline has the same point and the same code. Change nothing."}
	case g.Standing == studies.Equal && a.Verdict != Keep:
		return Advice{NoGain, fmt.Sprintf("Against what you run today: %s. Change nothing.", against)}
	case g.Standing == studies.Faster && a.Verdict == Keep:
		a.Sentence += fmt.Sprintf(" Against the baseline: %s; %s moves it.", against, s.Study.Place.Pawl("gate"))
	case g.Standing == studies.Undecided:
		a.Sentence += fmt.Sprintf(" Against what you run today nothing is known: %s.", strings.TrimSuffix(g.Reason, "."))
	default:
		a.Sentence += fmt.Sprintf(" Against what you run today: %s.", against)
	}
	return a
}

// Against is the gate's word in a few: the speedup over what is run today, and the
// verdict.
func Against(g studies.Gating) string {
	if g.Speedup == nil {
		return g.Verdict
	}
	return fmt.Sprintf("%.2f×, %s", *g.Speedup, g.Verdict)
}

// gateAction says what to do after the gate, empty where it changes nothing.
func gateAction(s *Summary) string {
	if s.Gate == nil {
		return ""
	}
	switch g := s.Gate; {
	case g.Standing == studies.Refused, g.Standing == studies.Running, g.Standing == studies.Equal:
		return nothingToDo
	case g.Standing == studies.Faster && s.Advice.Verdict == Keep:
		return "move the baseline: " + s.Study.Place.Pawl("gate")
	}
	return ""
}

// ungated says how to compare a winner with what is run today, where nobody has; empty where
// there is nothing to compare.
func ungated(s *Summary) string {
	if s.Gate != nil || s.applicable() == nil {
		return ""
	}
	return fmt.Sprintf("Compared only with the default, not with your current build: run %s.",
		s.Study.Place.Pawl("gate", "--study", s.Study.ID))
}

var gateHeader = []string{"workload", "verdict", "speedup", "95 % interval", "baseline", "this", "rounds",
	"this point", "the baseline's point", "when"}

// gateRows are all that the gate said, the winner's first; code and text write what is
// not ours.
func gateRows(s *Summary, code, text func(string) string) [][]string {
	var all []studies.Gating
	if s.Gate != nil {
		all = append(all, *s.Gate)
	}
	return collect.Each(append(all, s.Gated...), func(g studies.Gating) []string {
		speedup, interval, rounds, base := page.Unknown, page.Unknown, page.Unknown, page.Unknown
		if g.Speedup != nil {
			speedup = fmt.Sprintf("%.2f×", *g.Speedup)
		}
		if g.Interval != nil {
			interval = page.RatioInterval(*g.Interval)
		}
		if g.Rounds > 0 {
			rounds = fmt.Sprint(g.Rounds)
		}
		if g.BaselinePoint != "" {
			base = code(g.BaselinePoint)
		}
		return []string{text(g.Workload), text(g.Verdict), speedup, interval, s.Written(g.Baseline), s.Written(g.Current),
			rounds, code(g.Point.String()), base, g.Created.UTC().Format("2006-01-02 15:04 MST")}
	})
}
