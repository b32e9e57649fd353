package report

import (
	"strings"
	"testing"

	"pawl/objective"
	"pawl/search/confirm"
	"pawl/search/trial"
)

// dataStudy is a confirmation of eight rounds: the winner takes half of the default's 4 ms on the declared data, and on
// channels so many times as much.
func dataStudy(t *testing.T, factor float64) *Summary {
	t.Helper()
	study := exampleStudy(t)
	var past trial.Past
	for i, text := range []string{`BLOCK=16,MODE=plain,UNROLL=1`, `BLOCK=64,MODE=plain,UNROLL=1`} {
		at, on := 4/float64(i+1), 1.
		if i == 1 {
			on = factor
		}
		past.Trials = append(past.Trials, trial.Trial{Number: i, Point: point(t, text), Finished: true,
			Outcome: objective.Outcome{Samples: []float64{at, at}}})
		for round := range 8 {
			ms := at * (1 + 0.002*float64((round+i)%3))
			past.Rounds = append(past.Rounds, trial.Round{Phase: trial.Confirmation, Number: round, Point: point(t, text),
				Outcome: objective.Outcome{Samples: []float64{ms, ms, ms}, Kinds: []objective.KindSamples{
					{Kind: "channels", Samples: []float64{on * ms, on * ms}}, {Kind: "ties", Samples: []float64{ms, ms}}}}})
		}
	}
	s, err := Summarise(study, past)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// The verdict says first how the time depends on the data, and nothing that loses on a kind of it is to be applied.
func TestVerdictsOnKindsOfData(t *testing.T) {
	for _, test := range []struct {
		factor   float64
		verdict  Verdict
		sentence string
	}{
		{1, Apply, "Worth applying: "},
		{1.5, Apply, "The time depends on the data: 2.004 ms; 3.006 ms on channels data. Worth applying: "},
		{2.5, Consider, "The time depends on the data: 2.004 ms; 5.01 ms on channels data. Better than the default on " +
			"the declared data, and worse on channels data (0.80×, "},
	} {
		s := dataStudy(t, test.factor)
		if s.Advice.Verdict != test.verdict || !strings.HasPrefix(s.Advice.Sentence, test.sentence) {
			t.Errorf("%g: %s: %s", test.factor, s.Advice.Verdict, s.Advice.Sentence)
		}
		var page strings.Builder
		if err := Markdown(&page, s); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page.String(), "| channels | 4.00") || !strings.Contains(page.String(), "| ties | 4.00") {
			t.Errorf("no table by kind:\n%s", page.String())
		}
		page.Reset()
		if err := HTML(&page, s); err != nil || !strings.Contains(page.String(), `<h2 id="data">`) {
			t.Errorf("no table on the page: %v", err)
		}
	}
}

// A finalist that was caught is named, and is not the winner.
func TestCaughtPointsAreNamed(t *testing.T) {
	study, fitted, honest := exampleStudy(t), `BLOCK=64,MODE=plain,UNROLL=1`, `BLOCK=32,MODE=plain,UNROLL=1`
	var past trial.Past
	for text, ms := range map[string]float64{`BLOCK=16,MODE=plain,UNROLL=1`: 4, fitted: 1, honest: 2} {
		past.Trials = append(past.Trials, trial.Trial{Number: len(past.Trials), Point: point(t, text), Finished: true,
			Outcome: objective.Outcome{Samples: []float64{ms, ms}}})
		for round := range 8 {
			past.Rounds = append(past.Rounds, trial.Round{Phase: trial.Confirmation, Number: round, Point: point(t, text),
				Outcome: objective.Outcome{Samples: []float64{ms, ms, ms}}})
		}
	}
	past.Rounds = append(past.Rounds, trial.Round{Phase: trial.Confirmation, Number: 8, Point: point(t, fitted),
		Outcome: objective.Outcome{Failure: &objective.Failure{Stage: objective.Bench, Reason: confirm.Caught,
			Detail: "takes 2.00 times as long as the default on scaled data"}}})
	s, err := Summarise(study, past)
	if err != nil {
		t.Fatal(err)
	}
	if s.Winner == nil || s.Winner.Point != point(t, honest) || s.Data == nil || len(s.Data.Caught) != 1 {
		t.Fatalf("winner %+v, data %+v", s.Winner, s.Data)
	}
	const want = "Not suggested, because it is fitted to the declared data: BLOCK=64,MODE=plain,UNROLL=1 takes 2.00 times"
	if text := strings.Join(s.Warnings, "\n"); !strings.Contains(text, want) {
		t.Errorf("%s", text)
	}
}
