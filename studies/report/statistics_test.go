package report

import (
	"strings"
	"testing"
	"time"

	"pawl/internal/stats"
	"pawl/objective"
	"pawl/search/trial"
	"pawl/studies"
)

// confirmation makes up a confirmation of the default and one more point.
func confirmation(t *testing.T, initial, other [][]float64) *Summary {
	t.Helper()
	points := []string{"BLOCK=16,MODE=plain,UNROLL=1", winnerText}
	var past trial.Past
	for i, samples := range [][][]float64{initial, other} {
		p := point(t, points[i])
		past.Trials = append(past.Trials,
			trial.Trial{Number: i, Point: p, Finished: true, Outcome: objective.Outcome{Samples: samples[0]}})
		for number, round := range samples {
			past.Rounds = append(past.Rounds,
				trial.Round{Phase: trial.Confirmation, Number: number, Point: p, Outcome: objective.Outcome{Samples: round}})
		}
	}
	return summary(t, past)
}

// alternating returns rounds of one level each.
func alternating(levels ...float64) [][]float64 {
	var rounds [][]float64
	for _, level := range levels {
		rounds = append(rounds, []float64{level, level, level})
	}
	return rounds
}

// The middle of the ratios 1 and 4 is 2 by the statistic that the interval is of,
// and 2.5 by another one.
func TestEstimateAndIntervalAreOfOneStatistic(t *testing.T) {
	e := confirmation(t, alternating(1, 4, 1, 4, 1, 4), alternating(1, 1, 1, 1, 1, 1)).Evidence
	if e == nil || e.Speedup != 2 {
		t.Fatalf("%+v, want a speedup of 2", e)
	}
	if !e.Interval.Contains(e.Speedup) {
		t.Errorf("%v is outside of its interval %+v", e.Speedup, e.Interval)
	}
}

// Fewer processes than a 95 % interval takes have none, in every form.
func TestTooFewRoundsHaveNoInterval(t *testing.T) {
	fewer := confirmation(t, alternating(4, 4, 4, 4, 4), alternating(2, 2, 2, 2, 2))
	for name, interval := range map[string]stats.Interval{
		"default": fewer.Default.Interval,
		"winner":  fewer.Winner.Interval,
		"speedup": fewer.Evidence.Interval,
	} {
		if interval.Bounded() {
			t.Errorf("the interval of the %s over 5 rounds is %+v", name, interval)
		}
	}
	if got := fewer.Advice; got.Verdict != Promising || strings.Contains(got.Sentence, "interval") ||
		!strings.Contains(got.Sentence, "after 5 rounds of 6") {
		t.Errorf("%+v", got)
	}
	for format, render := range map[string]string{
		"Markdown": rendered(t, Markdown, fewer),
		"HTML":     rendered(t, HTML, fewer),
	} {
		if !strings.Contains(render, "too few runs") || !strings.Contains(render, "after 5 rounds of 6") {
			t.Errorf("%s does not say that there is no interval", format)
		}
	}
	if text := rendered(t, asJSON, fewer); !strings.Contains(text, `"low": null`) {
		t.Error("the JSON has an interval")
	}
	// A default that came first in few rounds is not the best for sure, and no winner beside it is noisy.
	first := confirmation(t, alternating(2, 2, 4), alternating(4, 4, 4))
	if got := first.Advice; got.Verdict != Keep || !strings.Contains(got.Sentence, "came first, in 3 rounds of 6") {
		t.Errorf("%+v", got)
	}
	if notes := strings.Join(first.Warnings, " "); !strings.Contains(notes, "the default's by") ||
		strings.Contains(notes, "winner's") {
		t.Errorf("%q", notes)
	}
	// One bad round of few is enough for doubt.
	if got := confirmation(t, alternating(4, 4, 2), alternating(2, 2, 2.1)).Advice; got.Verdict != Unproven {
		t.Errorf("%+v", got)
	}
	if six := confirmation(t, alternating(4, 4, 4, 4, 4, 4),
		alternating(2, 2, 2, 2, 2, 2)); !six.Evidence.Interval.Bounded() {
		t.Error("six rounds have no interval")
	}
}

// Processes that differ by a factor vary, whatever is left inside each.
func TestPlainVariationIsPrintedAndWarnedOf(t *testing.T) {
	s := confirmation(t, alternating(4, 4, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8), alternating(2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4))
	if s.Default.CV < 0.3 || s.Default.Variation > NoisyVariation {
		t.Fatalf("CV %v, without drift %v", s.Default.CV, s.Default.Variation)
	}
	if len(s.Warnings) == 0 ||
		!strings.Contains(strings.Join(s.Warnings, "\n"), "the default's by 34 % (robust CV 0 %)") {
		t.Errorf("%q", s.Warnings)
	}
	s.Study.Backend = studies.Replay // no program is to be closed for a record
	if got := strings.Join(warnings(s), "\n"); !strings.Contains(got, "Times vary, the default's by 34 %") ||
		strings.Contains(got, "Close other programs") {
		t.Error(got)
	}
	if text := rendered(t, Markdown, s); !strings.Contains(text, "| 33.8 % (0.0 %) |") {
		t.Error("the page does not show the plain CV")
	}
}

// A page without what each change is worth says why.
func TestMissingAblationIsExplained(t *testing.T) {
	rounds := confirmation(t, alternating(4, 4, 4), alternating(2, 2, 2))
	for ended, missing := range map[trial.Ending]bool{trial.Stopped: false, trial.BudgetSpent: true} {
		rounds.Study.Options.Budget, rounds.Study.Ended = time.Minute, ended
		if got := strings.Contains(strings.Join(warnings(rounds), "\n"),
			"What each change is worth was not measured"); got != missing {
			t.Errorf("%s: %q", ended, warnings(rounds))
		}
	}
}

// The page, the HTML and the JSON say on what the default and the winner were
// checked, and what is not known is not made up.
func TestEvidenceOfCorrectnessIsShown(t *testing.T) {
	s := summary(t, examplePast(t, 10, 1))
	if c := s.Winner.Checked; c == nil || len(c.Cases) != 6 || len(c.Shapes) != 4 || len(c.Seeds) != 6 ||
		c.Worst != 0.1234 {
		t.Fatalf("%+v", c)
	}
	if text := rendered(t, Markdown, s); !strings.Contains(text,
		"right on 6 cases each; the worst error goes from 0 % to 13 %") {
		t.Error("the page does not say what was checked")
	}
	for _, want := range []string{"What was checked", "4: N=7; N=1000; N=8; N=9", "declared, signs, one-hot",
		"misaligned, guarded", "6, from 40 to 52", "atol 1e-06, rtol 0.0001", "13 %",
		"--shape N=8 --seed 41 --family signs --layout misaligned"} {
		if !strings.Contains(rendered(t, HTML, s), want) {
			t.Errorf("HTML does not say %q", want)
		}
	}
	if text := rendered(t, asJSON, s); !strings.Contains(text, `"worst": 0.1234`) ||
		!strings.Contains(text, `"families"`) || !strings.Contains(text, `"atol": 0.000001`) {
		t.Error("the JSON does not say what was checked")
	}
	past := examplePast(t, 10, 1)
	for _, r := range past.Rounds {
		if r.Outcome.Evidence != nil {
			r.Outcome.Evidence.Unchecked = "results were checked with D=64 only"
		}
	}
	if text := rendered(t, Markdown,
		summary(t, past)); !strings.Contains(text, "Not every size was checked: results were checked with D=64 only.") {
		t.Error("the page does not say what was not checked")
	}
	old := confirmation(t, alternating(4, 4, 4, 4, 4, 4), alternating(2, 2, 2, 2, 2, 2))
	if text := rendered(t, Markdown, old); !strings.Contains(text, "What was checked is not recorded") {
		t.Error("an old study does not say that nothing is known")
	}
}
