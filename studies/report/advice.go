package report

import (
	"fmt"
	"slices"
	"strings"

	"pawl/space"
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
	// Noise: a difference too small to be believed.
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

// The thresholds of an advice. A gain below noiseSpeedup is not believed,
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
		return Advice{Nothing, "The default and every other point that was compared disagree with the reference, so the reference is the first suspect; then the arguments and the tolerance in the manifest, and code that all points share. See what failed below; pawl fuzz shows the smallest case."}
	case len(s.Top) == 0 && s.Default == nil:
		return Advice{Nothing, "No point passed every stage, so there is nothing to suggest. See what failed below."}
	case s.Winner == nil:
		return Advice{Unconfirmed, "The study ended before its best points were compared with the default in fresh processes. Resume it to confirm them; do not apply anything yet."}
	case s.Default == nil:
		return Advice{Unconfirmed, "The default point failed, so there is nothing to compare with. See what failed below."}
	case e == nil:
		return Advice{Keep, "The default is the best point that was found. Change nothing."}
	case e.Speedup < noiseSpeedup:
		return Advice{Noise, fmt.Sprintf("The best point is %s faster than the default. Under 5 %% that is probably noise: not worth applying.", percent(e.Speedup))}
	case e.Interval.Low <= 1:
		return Advice{Unproven, fmt.Sprintf("The best point looks %s faster, but the 95 %% interval includes no gain at all. Measure longer before applying it.", percent(e.Speedup))}
	case e.Speedup >= claimSpeedup && e.Interval.Low > noiseSpeedup && e.Delta >= claimDelta:
		return Advice{Apply, fmt.Sprintf("Worth applying: %.2f times as fast as the default, and the whole 95 %% interval lies above 5 %%.", e.Speedup)}
	default:
		return Advice{Consider, fmt.Sprintf("A real but small gain of %s: apply it if that is cheap.", percent(e.Speedup))}
	}
}

// percent writes a speedup as a gain.
func percent(speedup float64) string { return fmt.Sprintf("%.1f %%", 100*(speedup-1)) }

// NoisyVariation is the coefficient of variation above which timings are
// called noisy.
const NoisyVariation = 0.12

// replayed is the backend of a study whose answers come from a record.
const replayed = "replay"

// warnings collects what a reviewer should know before believing the rest.
// HotTemperature is where a reader must be told, in degrees Celsius.
const HotTemperature = 80

func warnings(s *Summary) []string {
	var found, noisy []string
	if s.Study.Backend == replayed {
		found = append(found, fmt.Sprintf("Nothing was measured here: the times are those of a record made on %s, drawn anew for every round.", s.Study.Environment.Device))
	}
	for name, t := range map[string]*Timed{"default": s.Default, "winner": s.Winner} {
		if t != nil && t.Variation > NoisyVariation {
			noisy = append(noisy, fmt.Sprintf("the %s's by %.0f %%", name, 100*t.Variation))
		}
	}
	if len(noisy) > 0 {
		slices.Sort(noisy)
		found = append(found, fmt.Sprintf("The machine is noisy: times vary, %s. Close other programs and measure again before trusting small differences.", strings.Join(noisy, ", ")))
	}
	if s.Evidence != nil && s.Evidence.Rounds < 5 {
		found = append(found, fmt.Sprintf("Only %d rounds of confirmation were measured. More of them (--rounds, --budget) give a narrower interval.", s.Evidence.Rounds))
	}
	if s.Evidence != nil && s.Evidence.Best < 0.5 && len(s.Top) > 1 {
		found = append(found, "The leading points are too close to tell which is best; any of them will do.")
	}
	for name, t := range map[string]*Timed{"default": s.Default, "winner": s.Winner} {
		if t == nil || t.Conditions == nil {
			continue
		}
		if c := t.Conditions; c.Temperature > HotTemperature {
			found = append(found, fmt.Sprintf("The device reached %d °C while the %s was measured; above %d °C the clock may give way.", c.Temperature, name, HotTemperature))
		}
		if c := t.Conditions; c.Discarded > 0 {
			found = append(found, fmt.Sprintf("%d samples of the %s were taken while the clock was throttled (%s) and are discarded.", c.Discarded, name, c.Reasons))
		}
	}
	slices.Sort(found)
	if s.Study.Space.Sampled {
		found = append(found, fmt.Sprintf("The space is too large to enumerate: the search saw a random sample of %d points.", s.Study.Space.Valid))
	}
	return found
}

// Defines returns the winner's assignments, or none.
func (s *Summary) Defines() []space.Assignment {
	if s.Winner == nil {
		return nil
	}
	return s.Winner.Point.Assignments()
}
