package report

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"pawl/internal/stats"
	"pawl/search/trial"
	"pawl/studies"
)

// gatingOf is what the gate might say about a point.
func gatingOf(t testing.TB, text string, standing studies.Standing, verdict string, speedup float64) studies.Gating {
	t.Helper()
	g := studies.Gating{
		Number: 1, Point: point(t, text), Workload: "small", Standing: standing, Verdict: verdict,
		Reason:  "because of <b> | `this`",
		Created: time.Date(2026, 1, 3, 4, 5, 6, 0, time.UTC),
		GatingFacts: studies.GatingFacts{
			BaselinePoint:  `BLOCK=64,MODE="a|b $x",UNROLL=1`,
			BaselineCommit: "abc",
			Notes:          []string{"a note with <i> and |"},
		},
	}
	if speedup > 0 {
		g.Speedup, g.Interval = &speedup, &stats.Interval{Low: speedup - 0.01, High: speedup + 0.01}
		g.Baseline, g.Current, g.Rounds = 2*speedup, 2, 20
	}
	return g
}

func gatedSummary(t testing.TB, past trial.Past, gatings ...studies.Gating) *Summary {
	t.Helper()
	s, err := Summarise(exampleStudy(t), past, gatings...)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// What the gate said outranks the speedup over the default.
func TestAdviceAfterTheGate(t *testing.T) {
	const initial = "BLOCK=16,MODE=plain,UNROLL=1"
	keep := examplePast(t, 10, -0.5) // every other point is slower than the default
	for _, test := range []struct {
		name     string
		past     trial.Past
		gating   studies.Gating
		want     Verdict
		sentence string
		suggests bool
		action   string
	}{
		{"the same code", examplePast(t, 10, 1), gatingOf(t, winnerText, studies.Running, "you already run this", 0),
			Running, "You already run this: the baseline has the same point and the same code. Change nothing.", false,
			"nothing"},
		{"as fast as today", examplePast(t, 10, 1),
			gatingOf(t, winnerText, studies.Equal, "no significant difference", 1.02), NoGain,
			"Against what you run today: 1.02×, no significant difference. Change nothing.", false, "nothing"},
		{"slower", examplePast(t, 10, 1), gatingOf(t, winnerText, studies.Refused, "regression", 0.9), Refused,
			"Do not apply it. Against what you run today: 0.90×, regression: because of", false, "nothing"},
		{"wrong", examplePast(t, 10, 1), gatingOf(t, winnerText, studies.Refused, "wrong", 0), Refused,
			"Do not apply it. Against what you run today: wrong: because of", false, "nothing"},
		{"faster", examplePast(t, 10, 1), gatingOf(t, winnerText, studies.Faster, "improvement", 1.3), Apply,
			"Against what you run today: 1.30×, improvement.", true, "read the page, then pawl apply 7"},
		{"no baseline", examplePast(t, 10, 1), gatingOf(t, winnerText, studies.Undecided, "new", 0), Apply,
			"Against what you run today nothing is known: because of", true, "read the page, then pawl apply 7"},
		{"another point", examplePast(t, 10, 1), gatingOf(t, initial, studies.Refused, "regression", 0.5), Apply,
			"Worth applying", true, "read the page, then pawl apply 7"},
		{"the default, run already", keep, gatingOf(t, initial, studies.Running, "you already run this", 0), Running,
			"You already run this", false, "nothing"},
		{"the default, as fast as today", keep, gatingOf(t, initial, studies.Equal, "maintained", 1.01), Keep,
			"Nothing clearly better than the default was found. Change nothing. Against what you run today: 1.01×, maintained.",
			false, "nothing"},
		{"the default, not the baseline yet", keep, gatingOf(t, initial, studies.Faster, "improvement", 1.5), Keep,
			"Against the baseline: 1.50×, improvement; pawl gate moves it.", false,
			"move the baseline: pawl gate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := gatedSummary(t, test.past, test.gating)
			e := newEntry(s, "scale/small")
			if s.Advice.Verdict != test.want || !strings.Contains(s.Advice.Sentence, test.sentence) {
				t.Errorf("%q: %s", s.Advice.Verdict, s.Advice.Sentence)
			}
			if e.Suggests != test.suggests || e.Action != test.action {
				t.Errorf("suggests %v: %s", e.Suggests, e.Action)
			}
		})
	}
}

// The last word counts, and only about the winner that the study has now.
func TestTheLastWordCounts(t *testing.T) {
	first, second := gatingOf(t, winnerText, studies.Refused, "regression", 0.9),
		gatingOf(t, winnerText, studies.Faster, "improvement", 1.2)
	elsewhere := gatingOf(t, winnerText, studies.Refused, "regression", 0.8)
	elsewhere.Workload = "large"
	s := gatedSummary(t, examplePast(t, 10, 1), first, elsewhere, second)
	if s.Gate == nil || s.Gate.Verdict != "improvement" || len(s.Gated) != 1 || s.Gated[0].Workload != "large" {
		t.Errorf("%+v, %+v", s.Gate, s.Gated)
	}
	if unconfirmed := gatedSummary(t, trial.Past{Trials: examplePast(t, 0, 1).Trials}, first); unconfirmed.Gate != nil {
		t.Errorf("%+v", unconfirmed.Gate)
	}
}

func TestGoldenGated(t *testing.T) {
	other := gatingOf(t, "BLOCK=64,MODE=plain,UNROLL=1", studies.Equal, "maintained", 1.01)
	equal := gatedSummary(t, examplePast(t, 10, 1),
		gatingOf(t, winnerText, studies.Equal, "no significant difference", 1.02), other)
	running := gatedSummary(t, examplePast(t, 10, 1), gatingOf(t, winnerText, studies.Running, "you already run this", 0))
	faster := gatedSummary(t, examplePast(t, 10, 1), gatingOf(t, winnerText, studies.Faster, "improvement", 1.3))
	for name, test := range map[string]struct {
		s      *Summary
		render func(io.Writer, *Summary) error
	}{
		"gated-equal.md": {equal, Markdown}, "gated-equal.html": {equal, HTML}, "gated-running.md": {running, Markdown},
		"gated-faster.json": {faster, asJSON},
		"gated.txt":         {equal, func(w io.Writer, s *Summary) error { Text(w, s, Files{}); return nil }},
	} {
		golden(t, name, []byte(rendered(t, test.render, test.s)))
	}
	var index bytes.Buffer
	if err := IndexMarkdown(&index, studies.Place{},
		[]Entry{newEntry(equal, "scale/small"), newEntry(running, "scale/other"), newEntry(faster, "scale/third")}); err !=
		nil {
		t.Fatal(err)
	}
	golden(t, "gated-index.md", index.Bytes())
}
