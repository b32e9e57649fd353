package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"pawl/internal/page"
	"pawl/internal/stats"
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
	// Consider: a certain gain that is small.
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
// whatever the statistics say: process-to-process variance is of that size. A
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
			"The study ended before its best points were compared with the default in fresh processes. Resume it to confirm " +
				"them; do not apply anything yet."}
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
			fmt.Sprintf("Promising: %.2f times %s, after %d rounds of %d. Measure %d rounds (--rounds, --budget) before "+
				"relying on it.", e.Speedup, s.timesBetter(), e.Rounds, e.Needed, e.Needed)}
	case e.Speedup >= claimSpeedup && e.least() > noiseSpeedup && e.Delta >= claimDelta:
		return Advice{Apply,
			fmt.Sprintf("Worth applying: %.2f times %s, and by more than %s over the whole 95 %% interval.", e.Speedup,
				s.timesBetter(), page.WholePercent(noiseSpeedup-1))}
	default:
		return Advice{Consider,
			fmt.Sprintf("A small gain of %s, and of %s at least: apply it if that is cheap.", page.Percent(e.Speedup-1),
				page.Percent(e.least()-1))}
	}
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

// Usable reports whether the winner may be applied: it is not certain to be faster where it is
// only promising, and whoever applies it knows.
func (v Verdict) Usable() bool { return v == Apply || v == Consider || v == Promising }

// NoisyVariation is the coefficient of variation above which timings are
// called noisy.
const NoisyVariation = 0.12

// LargeDrift is how much times may change inside a round without a warning.
const LargeDrift = 0.03

// replayed is the backend of a study whose answers come from a record.
const replayed = "replay"

// warnings collects what a reviewer should know before trusting the rest.
func warnings(s *Summary) []string {
	var found, noisy []string
	if s.Study.Backend == replayed {
		found = append(found,
			fmt.Sprintf("Nothing was measured here: the times are those of a record made on %s, drawn anew for every round.",
				s.Study.Environment.Device))
	}
	for name, t := range map[string]*Timed{"default": s.Default, "winner": s.Winner} {
		if t != nil && t.CV > NoisyVariation {
			noisy = append(noisy,
				fmt.Sprintf("the %s's by %s (%s without drift and outliers)", name, page.WholePercent(t.CV),
					page.WholePercent(t.Variation)))
		}
	}
	if len(noisy) > 0 {
		slices.Sort(noisy)
		found = append(found,
			fmt.Sprintf("The machine is noisy: times vary, %s. Close other programs and measure again before trusting small "+
				"differences.", strings.Join(noisy, ", ")))
	}
	if p := s.Study.Environment.Programs; p != nil && len(p.Check) == 0 {
		found = append(found,
			"Nothing was checked: the manifest has no check command, so that a point that computes nonsense may win.")
	}
	if s.Winner != nil && s.Winner.Rounds < stats.FewestForInterval {
		found = append(found,
			fmt.Sprintf("Only %d rounds of confirmation were measured, and a 95 %% interval takes at least %d (--rounds, "+
				"--budget): hence ±∞.", s.Winner.Rounds, stats.FewestForInterval))
	}
	if budget := time.Duration(s.Study.Options.Budget).Seconds(); s.Winner != nil && s.Default != nil &&
		s.Winner.Point != s.Default.Point &&
		len(s.Ablation) == 0 && budget > 0 && s.Search.Seconds > budget {
		found = append(found, "What each change is worth was not measured: the time was over before (--budget).")
	}
	if s.Winner == nil && len(s.Top) > 0 {
		found = append(found, "Each time is that of one process, which has no 95 % interval: hence ±∞.")
	}
	if s.Evidence != nil && s.Evidence.Best < 0.5 && len(s.Top) > 1 {
		found = append(found,
			"The best points are too close to say which is fastest: no one is ahead with a probability of 50 %. Any of them "+
				"will do.")
	}
	if s.Default != nil && s.Default.Checked != nil && s.Default.Checked.Unchecked != "" {
		found = append(found, "Not every size was checked: "+s.Default.Checked.Unchecked+".")
	}
	for name, t := range map[string]*Timed{"default": s.Default, "winner": s.Winner} {
		if t != nil && math.Abs(t.Drift) > LargeDrift {
			found = append(found,
				fmt.Sprintf("The times of the %s drift by %s inside a round: what is timed changes, or the machine does.", name,
					page.Change(t.Drift)))
		}
		if t == nil {
			continue
		}
		for _, warning := range t.Conditions.Warnings(name) {
			found = append(found, strings.ToUpper(warning[:1])+warning[1:]+".")
		}
	}
	slices.Sort(found)
	if s.Study.Space.Sampled {
		found = append(found,
			fmt.Sprintf("The space is too large to enumerate: the search began with a random sample of %d points.",
				s.Study.Space.Valid))
	}
	return found
}
