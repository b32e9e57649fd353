package report

import (
	"fmt"
	"time"

	"pawl/internal/page"
)

// Advice is what to do with a study's result.
type Advice struct {
	Verdict Verdict `json:"verdict"`
	// Sentence says it to a person.
	Sentence string `json:"sentence"`
}

// Verdict is the kind of an advice.
type Verdict string

// The verdicts.
const (
	// Apply: a gain that is large and certain.
	Apply Verdict = "apply"
	// Consider: a certain gain that is small, or whose size is uncertain.
	Consider Verdict = "consider"
	// Promising: a gain in all rounds, which are too few to be certain.
	Promising Verdict = "promising"
	// Noise: a difference too small to be trusted.
	Noise Verdict = "probably noise"
	// Unproven: a difference whose interval includes none at all.
	Unproven Verdict = "unproven"
	// Keep: the default is the best that was found.
	Keep Verdict = "keep the default"
	// Unconfirmed: the study ended before its finalists were compared.
	Unconfirmed Verdict = "unconfirmed"
	// Nothing: no point passed.
	Nothing Verdict = "nothing to suggest"
)

// The thresholds of an advice. A gain below noiseSpeedup is not trusted,
// regardless of the statistics: process-to-process variance is of that size. A
// gain is claimed from claimSpeedup on, with an effect of at least claimDelta.
const (
	noiseSpeedup = 1.05
	claimSpeedup = 1.10
	claimDelta   = 0.3
)

func advise(s *Summary) Advice {
	switch e := s.Evidence; {
	case s.Suspected:
		return Advice{Nothing,
			"The default and every other point that was compared disagree with the reference, so the reference is the first " +
				"suspect; then the arguments and the tolerance in the manifest, and code that all points share. See what failed " +
				"below; pawl fuzz shows the smallest case."}
	case len(s.Top) == 0 && s.Default == nil:
		return Advice{Nothing, "No point passed every stage, so there is nothing to suggest. See what failed below."}
	case s.Winner == nil && s.Default != nil && s.Study.Space.Valid == 1:
		return Advice{Keep, "You already run this: the default is the only point that there is."}
	case s.Winner == nil:
		return Advice{Unconfirmed,
			"The best points were not yet compared with the default " + inRounds(s.Study) +
				". Resume the study to confirm them; do not apply anything yet."}
	case s.Default == nil:
		return Advice{Unconfirmed, "The default point failed, so there is nothing to compare with. See what failed below."}
	case e == nil:
		return Advice{Keep, "You already run this: the default is the best point that was found. Change nothing."}
	case e.Speedup < noiseSpeedup:
		return Advice{Noise,
			fmt.Sprintf("The best point is %s %s than the default. Under %s that is probably noise: not worth applying.",
				page.Percent(e.Speedup-1), s.better(), page.WholePercent(noiseSpeedup-1))}
	case e.least() <= 1:
		return Advice{Unproven,
			fmt.Sprintf("The best point measured %s %s, but %s. Measure longer (--rounds, --budget) before applying it.",
				page.Percent(e.Speedup-1), s.better(), e.doubt())}
	case !e.Interval.Bounded():
		return Advice{Promising,
			fmt.Sprintf("Promising: %.2f times %s, after %d rounds of %d. %s confirms it.",
				e.Speedup, s.timesBetter(), e.Rounds, e.Needed, s.Confirming())}
	case e.Speedup >= claimSpeedup && e.least() > noiseSpeedup && e.Delta >= claimDelta:
		return Advice{Apply,
			fmt.Sprintf("Worth applying: %.2f times %s, and by more than %s over the whole 95 %% interval.", e.Speedup,
				s.timesBetter(), page.WholePercent(noiseSpeedup-1))}
	case e.Speedup < claimSpeedup:
		return Advice{Consider,
			fmt.Sprintf("A small gain of %s, and of %s at least: apply it if that is cheap.", page.Percent(e.Speedup-1),
				page.Percent(e.least()-1))}
	default:
		return Advice{Consider,
			fmt.Sprintf("The best point measured %s %s, but %s. Measure longer (--rounds, --budget), or apply it if that is "+
				"cheap.", page.Percent(e.Speedup-1), s.better(), e.reservation())}
	}
}

// Confirming is the command that measures the rounds which are missing: with more of them, and with twice the time
// where the time was over.
func (s *Summary) Confirming() string {
	command := s.Study.Resume()
	if goals := s.Study.Options.Goals; goals.Rounds < s.Evidence.Needed {
		command += fmt.Sprintf(" --rounds %d", s.Evidence.Needed)
	}
	if budget := s.Study.Options.Budget; budget > 0 {
		spent := max(budget, time.Duration(s.Search.Seconds*float64(time.Second)))
		command += fmt.Sprintf(" --budget %v", 2*spent.Round(time.Second))
	}
	return command
}

// reservation says why a gain that is large enough is not worth applying yet.
func (e *Evidence) reservation() string {
	if e.least() > noiseSpeedup {
		return "single runs of both overlap"
	}
	return "the 95 % interval begins at " + page.Percent(e.Interval.Low-1)
}

// least is the smallest speedup to reckon with: the low end of the interval, or of
// all rounds where these are too few for one.
func (e *Evidence) least() float64 {
	if e.Interval.Bounded() {
		return e.Interval.Low
	}
	return e.Least
}

// doubt says why a gain is not proven.
func (e *Evidence) doubt() string {
	if e.Interval.Bounded() {
		return "the 95 % interval includes no gain at all"
	}
	return fmt.Sprintf("not in each of its %d rounds", e.Rounds)
}

// Usable reports whether there is a winner to apply. One that is only promising is applied by force alone.
func (v Verdict) Usable() bool { return v == Apply || v == Consider || v == Promising }
