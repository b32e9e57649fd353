package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"pawl/internal/page"
	"pawl/search"
	"pawl/search/trial"
	"pawl/studies"
)

// NoisyVariation is the coefficient of variation above which timings are called noisy.
const NoisyVariation = 0.12

// ranHere reports whether pawl ran what was measured: neither a record nor an asker answered.
func ranHere(s studies.Study) bool { return s.Backend != studies.Replay && s.Backend != studies.Ask }

// inRounds says how finalists were measured again.
func inRounds(s studies.Study) string {
	if s.Backend == studies.Ask {
		return "side by side"
	}
	return "in fresh processes"
}

// side is the default or the winner.
type side struct {
	name string
	*Timed
}

// sides are the default and the winner where that is another point, as far as there are any.
func (s *Summary) sides() (sides []side) {
	if s.Default != nil {
		sides = append(sides, side{"default", s.Default})
	}
	if s.Winner != nil && s.Winner != s.Default {
		sides = append(sides, side{"winner", s.Winner})
	}
	return sides
}

// warnings collects what a reviewer should know before trusting the rest, the weightiest first: where the times come
// from, then what was not checked, then what disturbed them, then what was left out.
func warnings(s *Summary) []string {
	var found []string
	add := func(format string, arguments ...any) { found = append(found, fmt.Sprintf(format, arguments...)) }
	if s.Study.Backend == studies.Replay {
		add("Nothing was measured here: the times are those of a record made on %s, drawn anew for every round.",
			s.Study.Environment.Device)
	}
	if s.Study.Backend == studies.Ask {
		add("Another program compiled, checked and measured: the times and failures are what it told.")
	}
	if p := s.Study.Environment.Programs; p != nil && len(p.Check) == 0 {
		add("Nothing was checked: the manifest has no check command, so that a point that computes nonsense may win.")
	}
	found = append(found, caughtTexts(s)...)
	if later := s.wrongLater(); len(later) > 0 && !strings.Contains(s.Advice.Sentence, wrongText(later)) {
		add("%s", wrongText(later))
	}
	if s.Default != nil && s.Default.Checked != nil && s.Default.Checked.Unchecked != "" {
		add("Not every size was checked: %s.", s.Default.Checked.Unchecked)
	}
	if s.Winner == nil && len(s.Top) > 0 {
		add("Each time is that of one process, which has no 95 %% interval.")
	}
	if text := s.noisy(); text != "" {
		add("%s", text)
	}
	if text := s.unpaired(); text != "" {
		add("%s", text)
	}
	for _, t := range s.sides() {
		if t.Checked != nil && t.Checked.Noted != "" {
			add("Noticed of the %s: %s.", t.name, t.Checked.Noted)
		}
		for _, warning := range t.Conditions.Warnings(t.name) {
			add("%s.", strings.ToUpper(warning[:1])+warning[1:])
		}
		if drift := page.Drift(t.Drift, t.Variation); drift != "" {
			add("Inside a round, the %s %s.", t.name, drift)
		}
	}
	if s.Advice.Verdict.Usable() && s.Evidence.Interval.Bounded() && s.Evidence.Best < 0.5 && len(s.Top) > 1 {
		found = append(found, tooClose(s))
	}
	if budget := s.Study.Options.Budget; budget > 0 && budget <= search.QuickBudget && s.Search.OK > 0 {
		add("This is a rough answer: %v are little time for a search.", budget.Round(time.Second))
	}
	if s.Advice.Verdict.Usable() && len(s.Ablation) == 0 && s.Study.Options.Budget > 0 &&
		s.Study.Ended != trial.Stopped && s.Study.Backend != studies.Ask {
		add("What each change is worth was not measured: too little time was left (--budget).")
	}
	if s.Study.Space.Sampled {
		add("The space is too large to enumerate: the search began with a random sample of %d points.", s.Study.Space.Valid)
	}
	return found
}

// noisy says that times vary; empty where they do not.
func (s *Summary) noisy() string {
	var noisy []string
	for _, t := range s.sides() {
		if t.CV > NoisyVariation {
			noisy = append(noisy, fmt.Sprintf("the %s's by %s (robust CV %s)", t.name, page.WholePercent(t.CV),
				page.RobustCV(page.WholePercent(t.Variation), t.Samples)))
		}
	}
	switch text := strings.Join(noisy, ", "); {
	case len(noisy) == 0:
		return ""
	case ranHere(s.Study):
		return "The machine is noisy: times vary, " + text + ". Close other programs and measure again before trusting " +
			"small differences."
	default:
		return "Times vary, " + text + "."
	}
}

// unpaired explains a speedup that is not the ratio of the two times beside it.
func (s *Summary) unpaired() string {
	e := s.Evidence
	if e == nil || s.Default == nil || s.Winner == nil || !e.Interval.Bounded() {
		return ""
	}
	if ratio := s.Default.Milliseconds / s.Winner.Milliseconds; ratio < e.Interval.Low || ratio > e.Interval.High {
		return fmt.Sprintf("The two values are medians over all rounds, with a ratio of %.2f. The speedup compares them "+
			"round by round, because the machine's speed changed.", ratio)
	}
	return ""
}

// tooClose says which finalists no measurement tells apart: those within the noise of the fastest.
func tooClose(s *Summary) string {
	fastest := math.Inf(1)
	for _, t := range s.Top {
		fastest = min(fastest, t.Milliseconds)
	}
	var near []string
	for i, t := range s.Top {
		if t.Milliseconds < noiseSpeedup*fastest && t.Best != nil && *t.Best > 0 {
			near = append(near, fmt.Sprint(i+1))
		}
	}
	unclear := "No finalist is the fastest with a probability of at least 50 %"
	if len(near) < 2 {
		return unclear + ": measure longer (--rounds, --budget)."
	}
	return fmt.Sprintf("%s: numbers %s are within %s of the fastest, and any of these will do.", unclear,
		strings.Join(near, ", "), page.WholePercent(noiseSpeedup-1))
}
