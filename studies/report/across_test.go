package report

import (
	"bytes"
	"strings"
	"testing"

	"pawl/objective"
	"pawl/search/trial"
	"pawl/studies"
)

// onWorkload makes up rounds in which the winner is so many times as fast. Each round has
// a factor of its own: the speedup of a round is the speedup times the wobble, or over it.
func onWorkload(t *testing.T, rounds int, speedup, wobble float64) []trial.Round {
	t.Helper()
	var all []trial.Round
	for number := range rounds {
		for _, text := range []string{"BLOCK=16,MODE=plain,UNROLL=1", winnerText} {
			ms := 4.0
			if text == winnerText {
				ms /= speedup
				if number%2 == 0 {
					ms *= wobble
				} else {
					ms /= wobble
				}
			}
			all = append(all,
				trial.Round{
					Phase:   trial.Across,
					Number:  number,
					Point:   point(t, text),
					Outcome: objective.Outcome{Samples: []float64{ms, ms, ms}},
				})
		}
	}
	return all
}

func TestLosersOnOtherWorkloadsAreInPlainSight(t *testing.T) {
	study := exampleStudy(t)
	study.Workloads = []studies.WorkloadFacts{
		{Name: "small", Dims: "N=1000"},
		{Name: "slow|er", Dims: "N=1"},
		{Name: "faster", Dims: "N=2"},
		{Name: "same", Dims: "N=3"},
		{Name: "few", Dims: "N=4"},
		{Name: "wrong", Dims: "N=5"},
		{Name: "none", Dims: "N=6"},
		{Name: "another", Dims: "N=7"},
		{Name: "old", Dims: "N=8"},
		{Name: "two", Dims: "N=9"},
	}
	s, err := Summarise(study, examplePast(t, 10, 1))
	if err != nil {
		t.Fatal(err)
	}
	failed := onWorkload(t, 1, 1, 1)[1]
	failed.Outcome = objective.Outcome{Failure: &objective.Failure{
		Stage:  objective.Fuzz,
		Reason: "wrong result",
		Detail: "at [1]",
	}}
	base := onWorkload(t, 1, 1, 1)[0]
	base.Outcome = objective.Outcome{Failure: &objective.Failure{Stage: objective.Preflight, Reason: "infeasible"}}
	stranger := onWorkload(t, 10, 2, 1)
	stranger[3].Point = point(t, "BLOCK=32,MODE=plain,UNROLL=1")
	s.Across = across(&s, map[string][]trial.Round{
		"slow|er": onWorkload(t, 10, 0.8, 1.01), "faster": onWorkload(t, 10, 1.5, 1.01), "same": onWorkload(t, 10, 1, 1.02),
		"few":   onWorkload(t, 3, 0.9, 1.01),
		"wrong": {failed}, "another": {base}, "old": stranger, "two": onWorkload(t, 2, 0.5, 1),
	})
	want := map[string]AcrossResult{
		"slow|er": AcrossSlower,
		"faster":  AcrossFaster,
		"same":    AcrossSame,
		"few":     AcrossSlower,
		"wrong":   AcrossFails,
		"none":    AcrossUnmeasured,
		"another": AcrossDefaultFails,
		"old":     AcrossUnmeasured,
		"two":     AcrossUnmeasured,
	}
	for _, w := range s.Across.Workloads {
		if w.Result != want[w.Workload] {
			t.Errorf("%s: %s, want %s", w.Workload, w.Result, want[w.Workload])
		}
		delete(want, w.Workload)
	}
	if len(want) > 0 {
		t.Errorf("not on the page: %v", want)
	}
	if got := action(&s); got != "read the page: slow|er, few, wrong would pay for it" {
		t.Errorf("the index says %q", got)
	}
	var markdown, text, html bytes.Buffer
	if err := Markdown(&markdown, &s); err != nil {
		t.Fatal(err)
	}
	Text(&text, &s, Files{})
	if err := HTML(&html, &s); err != nil {
		t.Fatal(err)
	}
	golden(t, "across.md", sectionOf(t, markdown.String(), "<details><summary>On other workloads</summary>"))
	for _, want := range []string{"slow|er", "SLOWER", "THE WINNER FAILS: fuzz: wrong result: at [1]",
		"Another workload would pay: slow|er gets slower (0.80×), few gets slower (0.89×), the winner fails on wrong."} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the terminal does not say %q:\n%s", want, text.String())
		}
	}
	for _, want := range []string{`<h2 id="across">On other workloads</h2>`,
		`slow|er</td><td data-label="winner over default">0.80×</td>`,
		"the winner fails: fuzz: wrong result"} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// sectionOf returns one section of a page.
func sectionOf(t *testing.T, page, title string) []byte {
	t.Helper()
	_, rest, found := strings.Cut(page, title)
	if !found {
		t.Fatalf("no section %q in\n%s", title, page)
	}
	section, _, _ := strings.Cut(rest, "\n</details>")
	return []byte(title + section)
}

func TestNothingIsSaidAboutOtherWorkloadsWhereThereAreNone(t *testing.T) {
	study := exampleStudy(t)
	s, err := Summarise(study, examplePast(t, 10, 1))
	if err != nil {
		t.Fatal(err)
	}
	if a := across(&s, nil); a != nil {
		t.Errorf("an older study: %v", a)
	}
	s.Study.Workloads = []studies.WorkloadFacts{{Name: "small"}, {Name: "large"}}
	if a := across(&s, nil); !strings.Contains(a.Advice, "on no other workload of the kernel (large)") ||
		!strings.Contains(a.Advice, "pawl studies across 7") {
		t.Errorf("the advice is %s", a.Advice)
	}
	if a := across(&s,
		map[string][]trial.Round{"large": onWorkload(t, 10, 1.2, 1.01)}); !strings.Contains(a.Advice,
		"may become the manifest's default") || strings.Contains(a.Advice, "Not measured") {
		t.Errorf("the advice is %s", a.Advice)
	}
	s.Study.Workloads = append(s.Study.Workloads, studies.WorkloadFacts{Name: "huge"})
	if a := across(&s, map[string][]trial.Round{"large": onWorkload(t, 10, 1.2, 1.01)}); !strings.HasPrefix(a.Advice,
		"No workload that was measured is shown to get slower. Not measured: huge;") {
		t.Errorf("the advice is %s", a.Advice)
	}
	base := onWorkload(t, 1, 1, 1)[0]
	base.Outcome = objective.Outcome{Failure: &objective.Failure{Stage: objective.Preflight, Reason: "infeasible"}}
	if a := across(&s, map[string][]trial.Round{"large": {base}, "huge": {base}}); a.Advice !=
		"The default itself fails on large, huge." {
		t.Errorf("the advice is %s", a.Advice)
	}
	s.Evidence = nil // the default is the best
	if a := across(&s, nil); a != nil {
		t.Errorf("there is no winner: %v", a)
	}
}
