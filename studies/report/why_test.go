package report

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"pawl/objective/profile"
	"pawl/studies"
)

// recordedMetrics are the counters of a real launch on an H200.
func recordedMetrics(t *testing.T, name string) profile.Metrics {
	t.Helper()
	file, err := os.Open("../../objective/profile/testdata/explained/" + name + ".csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	all, err := profile.ReadNsight(text)
	if err != nil {
		t.Fatal(err)
	}
	return all[0].Metrics
}

// The page says why the winner is faster: by a profiler's counters where both were profiled, by
// the compiler's figures where not.
func TestWhy(t *testing.T) {
	study := exampleStudy(t)
	past := examplePast(t, 10, 1)
	summary, err := Summarise(study, past)
	if err != nil {
		t.Fatal(err)
	}
	profiles := []studies.Profile{
		{Point: summary.Default.Point, Workload: study.Workload, Metrics: recordedMetrics(t, "copy")}, // profiled again since
		{Point: summary.Default.Point, Workload: study.Workload, Metrics: recordedMetrics(t, "attention")},
		{Point: summary.Winner.Point, Workload: "other", Metrics: recordedMetrics(t, "copy")},
		{Point: summary.Winner.Point, Workload: study.Workload, Metrics: recordedMetrics(t, "attention-better")},
	}
	for name, test := range map[string]struct {
		profiles []studies.Profile
		want     []string
		not      string
	}{
		"profiled": {profiles,
			[]string{"<summary>Why</summary>", "less time is lost to too few warps", "What could be tried next",
				"warps resident", "→ 16.8"},
			"no profiler has looked"},
		"compiled": {nil,
			[]string{"<summary>Why</summary>", "bytes spilled a thread", "no profiler has looked at both", "--compare default",
				"registers a thread | 32 → 128"}, "too few warps"},
		"half": {profiles[:2], []string{"no profiler has looked at both"}, "→ 16.8"},
	} {
		summary.Why = whyFaster(&summary, test.profiles)
		var page, html bytes.Buffer
		if err := Markdown(&page, &summary); err != nil {
			t.Fatal(err)
		}
		if err := HTML(&html, &summary); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if !strings.Contains(page.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, page.String())
			}
		}
		if strings.Contains(page.String(), test.not) {
			t.Errorf("%s: %q", name, test.not)
		}
		if drawn := strings.Contains(html.String(), "What warps spend their time at"); drawn != (name == "profiled") {
			t.Errorf("%s: bars of stalls: %v", name, drawn)
		}
		if !strings.Contains(html.String(), "<figcaption>Roofline</figcaption>") || !strings.Contains(html.String(), `<h2 id="why">Why</h2>`) {
			t.Errorf("%s: a part of the page is missing", name)
		}
	}
	replay := summary
	replay.Study.Backend = studies.Replay
	if why := whyFaster(&replay, nil); why != nil {
		t.Errorf("a record explains itself: %+v", why)
	}
}
