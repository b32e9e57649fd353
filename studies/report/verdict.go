package report

import (
	"fmt"
	"slices"
	"time"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/search/confirm"
	"pawl/search/trial"
)

// Advice is what to do with a study's result.
type Advice struct {
	Verdict Verdict `json:"verdict"`
	// Sentence says it to a person.
	Sentence string `json:"sentence"`
}

// Verdict is the kind of an advice.
type Verdict string

const (
	// Apply: a gain that is large and certain.
	Apply Verdict = "apply"
	// Consider: a certain gain that is small, or whose size is uncertain.
	Consider Verdict = "consider"
	// Promising: a gain in all rounds, which are too few to be certain.
	Promising Verdict = "promising"
	// Unproven: another point came first, and the rounds so far do not decide whether it is better.
	Unproven Verdict = "unproven"
	// Keep: nothing beats the default by what is worth a change, as far as was measured.
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
	wrong, decides := adviseWrong(s)
	switch e := s.Evidence; {
	case s.Suspected:
		return Advice{Nothing,
			"The default and every other point that was compared disagree with the reference, so the reference is the first " +
				"suspect; then the arguments and the tolerance in the manifest, and code that all points share. See what failed " +
				"below; pawl fuzz shows the smallest case."}
	case decides:
		return wrong
	case len(s.Top) == 0 && s.Default == nil && s.Search.Failed == 0:
		return Advice{Unconfirmed, "The study ended before any trial did."}
	case len(s.Top) == 0 && s.Default == nil:
		return Advice{Nothing, "No point passed every stage, so there is nothing to suggest. See what failed below."}
	case s.Default == nil:
		return Advice{Unconfirmed, "The default has no time, so there is nothing to compare with. See what failed below."}
	case s.Winner == nil && s.Study.Space.Valid == 1:
		return Advice{Keep, "The default is the only valid point."}
	case s.Winner == nil && s.Search.OK > 1 && s.sameCode():
		return Advice{Keep, "All points that passed have the machine code of the default: there is nothing to choose from."}
	case s.Winner == nil && s.Search.OK == 1 && s.Study.Ended == trial.UsedUp:
		return Advice{Keep, "Every other valid point was tried and failed. See what failed below."}
	case s.Winner == nil && s.Search.OK == 1:
		return Advice{Unconfirmed, "Nothing but the default has a time so far: search longer (--trials, --budget)."}
	case s.Winner == nil:
		return Advice{Unconfirmed,
			fmt.Sprintf("The study ended before its best points were compared with the default %s: apply "+
				"nothing yet. %s", inRounds(s.Study), s.confirms("confirms them"))}
	case e == nil && s.Winner.Rounds < stats.FewestForInterval:
		return Advice{Keep, fmt.Sprintf("The default came first, in %d rounds of %d. %s", s.Winner.Rounds,
			stats.FewestForInterval, s.confirms("continues"))}
	case e == nil && slices.ContainsFunc(s.Top, Timed.mayBeFaster):
		return Advice{Keep, fmt.Sprintf("The default came first, but its rounds do not exclude that another point is more "+
			"than %s %s. %s", page.WholePercent(claimSpeedup-1), s.better(), s.confirms("measures longer"))}
	case e == nil:
		return Advice{Keep, "Nothing clearly better than the default was found. Change nothing."}
	case !e.Interval.Bounded() && e.Speedup >= noiseSpeedup && e.Least > 1:
		return Advice{Promising,
			fmt.Sprintf("Promising, after %d rounds of %d. %s", e.Rounds, e.Needed, s.confirms("confirms it"))}
	case !e.Interval.Bounded():
		return Advice{Unproven,
			fmt.Sprintf("Nothing is decided after %d rounds of %d. %s", e.Rounds, e.Needed, s.confirms("continues"))}
	case e.Speedup < noiseSpeedup && e.Interval.High >= claimSpeedup:
		return Advice{Unproven,
			fmt.Sprintf("Nothing is decided: the gain may be below %s or above %s. %s", page.WholePercent(noiseSpeedup-1),
				page.WholePercent(claimSpeedup-1), s.confirms("measures longer"))}
	case e.Speedup < noiseSpeedup:
		return Advice{Keep,
			fmt.Sprintf("The best point is less than %s %s than the default, which may be noise. Change nothing.",
				page.WholePercent(noiseSpeedup-1), s.better())}
	case e.Interval.Low <= 1:
		return Advice{Unproven,
			fmt.Sprintf("The best point measured %s, but the 95 %% interval begins at 1× or below: do not apply it yet. %s",
				s.better(), s.confirms("measures longer"))}
	case e.Speedup >= claimSpeedup && e.Interval.Low > noiseSpeedup && e.Delta >= claimDelta:
		return Advice{Apply,
			fmt.Sprintf("Worth applying: %s than the default by more than %s over the whole 95 %% interval.", s.better(),
				page.WholePercent(noiseSpeedup-1))}
	case e.Speedup < claimSpeedup:
		return Advice{Consider, "A small gain: apply it if that is cheap."}
	default:
		return Advice{Consider,
			fmt.Sprintf("The best point measured %s, but %s. Measure longer (--rounds, --budget), or apply it if that is "+
				"cheap.", s.better(), e.reservation())}
	}
}

// sameCode reports whether all points that passed have the same machine code.
func (s *Summary) sameCode() bool {
	codes := map[string]bool{}
	for _, t := range s.trials {
		if t.OK() {
			codes[t.Outcome.Binary] = true
		}
	}
	return len(codes) == 1 && !codes[""]
}

// mayBeFaster reports whether a finalist's interval reaches to a gain worth claiming. One
// that was left behind is slower.
func (t Timed) mayBeFaster() bool {
	return t.Best != nil && *t.Best > 0 && t.SpeedupInterval != nil && t.SpeedupInterval.High >= claimSpeedup
}

// Figures are the winner's in one line: before, after, and the speedup with its interval; empty where there is none.
func (s *Summary) Figures() string {
	if s.Evidence == nil {
		return ""
	}
	return fmt.Sprintf("%s → %s, %.2f× (%s)", s.Written(s.Default.Milliseconds), s.Written(s.Winner.Milliseconds),
		s.Evidence.Speedup, page.RatioInterval(s.Evidence.Interval))
}

// open reports whether the default came first although its rounds are too few to exclude that another point is better.
func (s *Summary) open() bool {
	return s.Evidence == nil && s.Winner != nil &&
		(s.Winner.Rounds < stats.FewestForInterval || slices.ContainsFunc(s.Top, Timed.mayBeFaster))
}

// Confirming is the command that measures longer. It always asks for more than the study was given before, rounds or
// time, so that following it again is never the same command: the rounds that are missing or twice as many, and twice
// the time, at least as much as the rounds take by what the default and the best have taken so far. A study that was
// stopped has its time left.
func (s *Summary) Confirming() string {
	var words []any
	if len(s.Search.Devices) > 0 {
		words = append(words, "--on", s.Study.Environment.Device)
	}
	rounds := stats.FewestForInterval
	if e := s.Evidence; e != nil && e.Rounds < e.Needed {
		rounds = e.Needed
	} else if e != nil {
		rounds = 2 * e.Rounds
	} else if s.Winner != nil && s.Winner.Rounds >= rounds {
		rounds = 2 * s.Winner.Rounds
	}
	planned, budget := s.Study.Options.Rounds, s.Study.Options.Budget
	spent := time.Duration(s.Search.Seconds * float64(time.Second))
	stopped := s.Study.Ended == trial.Stopped || s.Study.Ended == ""
	if budget == 0 && !stopped && planned >= rounds && s.Winner != nil {
		rounds = 2 * planned // fewer were enough for a rule that would end it again
	}
	if planned > 0 && planned < rounds {
		words = append(words, "--rounds", rounds)
	}
	if budget > 0 && !(stopped && spent < budget/2) {
		spent = max(budget, spent)
		words = append(words, "--budget", (spent + max(spent, 2*s.confirmationTakes())).Round(time.Second).String())
	}
	return s.Study.Resume(words...)
}

// confirmationTakes is about how long it takes to compare the best with the default, by what their trials took.
func (s *Summary) confirmationTakes() time.Duration {
	var costs []confirm.Cost
	points := s.Top[:min(len(s.Top), 1)]
	if s.Default != nil {
		points = append([]Timed{*s.Default}, points...)
	}
	for _, t := range points {
		tried, _ := collect.First(s.trials, func(o trial.Trial) bool { return o.Point == t.Point && o.OK() })
		costs = append(costs, confirm.Cost{Start: tried.Outcome.Spent.Check, Sample: tried.Outcome.Spent.Measure})
	}
	return confirm.Reserve(0, costs...)
}

// confirms says what the command that measures longer does, and that a budget includes what was spent.
func (s *Summary) confirms(does string) string {
	text := s.Confirming() + " " + does
	if s.Study.Options.Budget > 0 {
		text += fmt.Sprintf("; of this budget %s are spent", page.Seconds(s.Search.Seconds))
	}
	return text + "."
}

// reservation says why a gain that is large enough is not worth applying yet.
func (e *Evidence) reservation() string {
	if e.Interval.Low > noiseSpeedup {
		return "single runs of both overlap"
	}
	return "the 95 % interval includes gains below " + page.WholePercent(noiseSpeedup-1)
}

// Usable reports whether there is a winner to apply. One that is only promising is applied by force alone.
func (v Verdict) Usable() bool { return v == Apply || v == Consider || v == Promising }

// Tone is the color of a verdict on a page: the class of its style.
func (v Verdict) Tone() string {
	switch v {
	case Apply, Consider:
		return "good"
	case Nothing, Refused, Damaged:
		return "bad"
	}
	return "plain"
}
