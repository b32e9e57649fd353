package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pawl/internal/stats"
	"pawl/objective"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestGolden(t *testing.T) {
	s := summary(t, examplePast(t, 10, 1))
	interrupted := summary(t, trial.Past{Trials: examplePast(t, 0, 1).Trials,
		Conclusion: trial.Conclusion{Elapsed: 12 * time.Second}})
	for _, test := range []struct {
		file   string
		facts  *Summary
		render func(io.Writer, *Summary) error
	}{
		{MarkdownName, s, Markdown}, {JSONName, s, asJSON}, {HTMLName, s, HTML}, {headerName(s.Study), s, Header},
		{"interrupted.md", interrupted, Markdown},
	} {
		t.Run(test.file, func(t *testing.T) {
			var got bytes.Buffer
			if err := test.render(&got, test.facts); err != nil {
				t.Fatal(err)
			}
			golden(t, test.file, got.Bytes())
		})
	}
}

// golden compares with a golden file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("differs from %s; look at it and run go test ./studies/report -update\n%s", path,
			firstDifference(string(got), string(want)))
	}
}

func rendered(t *testing.T, render func(io.Writer, *Summary) error, s *Summary) string {
	t.Helper()
	var text bytes.Buffer
	if err := render(&text, s); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\ngot  %s\nwant %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// Nothing can be compared where there is one point, and going on would not change that.
func TestAdviceAboutTheOnlyPoint(t *testing.T) {
	s := &Summary{Default: &Timed{}, Top: []Timed{{}}}
	s.Study.Space.Valid = 1
	if got := advise(s); got.Verdict != Keep || !strings.Contains(got.Sentence, "only valid point") {
		t.Errorf("%+v", got)
	}
	s.Study.Space.Valid = 2
	if got := advise(s); got.Verdict != Unconfirmed || !strings.Contains(got.Sentence, "compared with the default") {
		t.Errorf("%+v", got)
	}
	s.Search.OK = 1
	if got := advise(s); got.Verdict != Unconfirmed || !strings.Contains(got.Sentence, "Nothing but the default") {
		t.Errorf("%+v", got)
	}
	s.Search.OK = 2
	for codes, want := range map[string]string{
		"aa": "All points that passed have the machine code", "ab": "compared with",
	} {
		s.trials = nil
		for _, code := range codes {
			s.trials = append(s.trials, trial.Trial{Finished: true, Outcome: objective.Outcome{Binary: string(code)}})
		}
		if got := advise(s); !strings.Contains(got.Sentence, want) {
			t.Errorf("%s: %+v", codes, got)
		}
	}
	s.Search.OK, s.Search.Failed, s.Study.Ended = 1, 1, trial.UsedUp
	if got := advise(s); got.Verdict != Keep || !strings.HasPrefix(got.Sentence, "Every other valid point was tried") {
		t.Errorf("%+v", got)
	}
	s.Default = nil // it is what failed, and measuring longer does not help
	if got := advise(s); got.Verdict != Unconfirmed || !strings.HasPrefix(got.Sentence, "The default has no time") {
		t.Errorf("%+v", got)
	}
	s.Advice = advise(s)
	if got := action(s); got != "read on the page what failed" {
		t.Error(got)
	}
}

// A default that came first is kept where nothing that was measured may be much faster.
func TestADefaultThatCameFirst(t *testing.T) {
	best, behind := 0.5, 0.0
	for _, test := range []struct {
		best *float64
		high float64
		open bool // to a further round
	}{{&best, 2.13, true}, {&best, 1.08, false}, {&behind, math.Inf(1), false}, {nil, math.Inf(1), false}} {
		s := &Summary{Default: &Timed{}, Winner: &Timed{Rounds: 6}}
		s.Study.Options.Rounds, s.Study.Ended = 10, trial.TrialsDone
		s.Top = []Timed{{Best: test.best, SpeedupInterval: &stats.Interval{Low: 0.2, High: test.high}}}
		s.Advice = advise(s)
		if s.Advice.Verdict != Keep || test.open !=
			strings.Contains(s.Advice.Sentence, "another point is more than 10 % faster. pawl tune") {
			t.Errorf("%+v: %+v", test, s.Advice)
		}
		if got := action(s); test.open != strings.Contains(got, "--rounds 12") || !test.open && got != nothingToDo {
			t.Error(got)
		}
	}
}

// Whoever follows the advice to measure longer, again and again, is never given the same command twice, and gets more
// rounds or more time each time.
func TestAdviceToMeasureLongerNeverRepeats(t *testing.T) {
	for name, begin := range map[string]func(*Summary){
		"few rounds":                 func(s *Summary) { s.Study.Options.Rounds = 3 },
		"fewer rounds than planned":  func(s *Summary) { s.Study.Options.Rounds = 30 },
		"a budget":                   func(s *Summary) { s.Study.Options.Budget = 20 * time.Second },
		"nothing was compared":       func(s *Summary) { s.Study.Options.Budget, s.Winner = 20*time.Second, nil },
		"a budget that was exceeded": func(s *Summary) { s.Study.Options.Budget, s.Search.Seconds = time.Second, 9 },
	} {
		s := &Summary{Default: &Timed{}, Winner: &Timed{Rounds: 6}}
		s.Study.Ended, s.Study.Options.Rounds = trial.BudgetSpent, 10
		begin(s)
		said := map[string]bool{}
		for range 5 {
			command := s.Confirming()
			if said[command] {
				t.Errorf("%s: %s is said again", name, command)
			}
			said[command] = true
			words := strings.Fields(command) // followed, without a better answer
			if at := slices.Index(words, "--rounds"); at > 0 {
				s.Study.Options.Rounds, _ = strconv.Atoi(words[at+1])
			}
			if at := slices.Index(words, "--budget"); at > 0 {
				s.Study.Options.Budget, _ = time.ParseDuration(words[at+1])
				s.Search.Seconds = s.Study.Options.Budget.Seconds()
			}
		}
	}
	stopped := &Summary{Default: &Timed{}, Search: SearchFacts{Seconds: 4}}
	stopped.Study.Ended, stopped.Study.Options = trial.Stopped, studies.Options{Goals: trial.Goals{Budget: time.Minute}}
	if got := stopped.Confirming(); strings.Contains(got, "--budget") {
		t.Errorf("most of the time is left, and the advice is %s", got)
	}
}

func TestAdvice(t *testing.T) {
	for _, test := range []struct {
		name string
		past trial.Past
		want Verdict
	}{
		{"a factor of two", examplePast(t, 10, 1), Apply},
		{"no difference at all", examplePast(t, 10, 0), Keep},
		{"two per cent", examplePast(t, 10, 0.04), Keep},
		{"seven per cent", examplePast(t, 10, 0.13), Consider},
		{"too few rounds", examplePast(t, 2, 1), Unconfirmed},
		{"no trial", trial.Past{}, Unconfirmed},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := summary(t, test.past)
			got := s.Advice.Verdict
			if got != test.want {
				t.Errorf("got %q (%s), want %q", got, s.Advice.Sentence, test.want)
			}
		})
	}
}

// A gain is called small only where it is, and real only where nothing includes none at all.
func TestGainsAreCalledWhatTheyAre(t *testing.T) {
	s := &Summary{Default: &Timed{}, Winner: &Timed{}}
	for _, test := range []struct {
		evidence Evidence
		want     string
	}{
		{Evidence{Speedup: 0.97, Interval: stats.Interval{Low: 0.19, High: 1.38}},
			"Nothing is decided: the gain may be below 5 % or above 10 %."},
		{Evidence{Speedup: 1.02, Interval: stats.Interval{Low: 0.99, High: 1.04}}, "less than 5 % faster"},
		{Evidence{Speedup: 1.07, Interval: stats.Interval{Low: 1.06, High: 1.08}},
			"A small gain: apply it if that is cheap."},
		{Evidence{Speedup: 1.67, Interval: stats.Interval{Low: 1.03, High: 1.9}, Delta: 1},
			"measured faster, but the 95 % interval includes gains below 5 %. Measure longer"},
		{Evidence{Speedup: 1.67, Interval: stats.Interval{Low: 1.5, High: 1.9}, Delta: 0.1}, "runs of both overlap"},
		{Evidence{Speedup: 1.67, Interval: stats.Unbounded(), Least: 1.02, Rounds: 3, Needed: 8, Delta: 1},
			"Promising, after 3 rounds of 8"},
		{Evidence{Speedup: 1.67, Interval: stats.Unbounded(), Least: 0.99, Rounds: 3, Needed: 8, Delta: 1},
			"Nothing is decided after 3 rounds of 8"},
		{Evidence{Speedup: 0.98, Interval: stats.Unbounded(), Least: 0.9, Rounds: 3, Needed: 6},
			"Nothing is decided after 3 rounds of 6"},
		{Evidence{Speedup: 1.67, Interval: stats.Interval{Low: 0.99, High: 1.9}}, "interval begins at 1× or below"},
	} {
		s.Evidence = &test.evidence
		if got := advise(s); !strings.Contains(got.Sentence, test.want) {
			t.Errorf("%+v: %s", test.evidence, got.Sentence)
		}
	}
}

func TestEvidenceIsNearTheTruth(t *testing.T) {
	e := summary(t, examplePast(t, 10, 1)).Evidence
	// The true speedup is 1.6 * 1.25 = 2.
	if !e.Interval.Contains(2) || math.Abs(e.Speedup-2) > 0.02 {
		t.Errorf("speedup %.4f, interval %+v, truth 2", e.Speedup, e.Interval)
	}
	if e.Delta != 1 || e.Best < 0.99 {
		t.Errorf("delta %v, P(best) %v", e.Delta, e.Best)
	}
}

func TestAblationSharesMultiplyToTheWhole(t *testing.T) {
	steps := summary(t, examplePast(t, 10, 1)).Ablation
	if len(steps) != 4 {
		t.Fatalf("%d steps", len(steps))
	}
	product := 1.0
	for _, s := range steps {
		product *= s.Speedup
	}
	if math.Abs(product/steps[3].Total-1) > 0.03 {
		t.Errorf("the steps multiply to %.3f, the whole is %.3f", product, steps[3].Total)
	}
	if got := steps[1].name(); got != "BLOCK 16 → 64" {
		t.Errorf("first change: %s", got)
	}
}

func TestJSONHoldsTheSameFacts(t *testing.T) {
	s := summary(t, examplePast(t, 10, 1))
	var text bytes.Buffer
	if err := s.JSON(&text); err != nil {
		t.Fatal(err)
	}
	var decoded struct {
		Evidence struct {
			Speedup float64 `json:"speedup"`
			Delta   float64 `json:"cliffs_delta"`
		} `json:"evidence"`
		Winner struct {
			Point space.Point `json:"point"`
		} `json:"winner"`
	}
	if err := json.Unmarshal(text.Bytes(), &decoded); err != nil {
		t.Fatal(err)
	}
	if decoded.Evidence.Speedup != s.Evidence.Speedup || decoded.Evidence.Delta != s.Evidence.Delta ||
		decoded.Winner.Point != s.Winner.Point {
		t.Errorf("got %+v", decoded)
	}
}

func TestWriteAllReplacesWholeFiles(t *testing.T) {
	dir := t.TempDir()
	s := summary(t, examplePast(t, 10, 1))
	for range 2 {
		files, err := WriteAll(dir, s)
		if err != nil || len(files.Written) != 4 || files.Removed != "" {
			t.Fatal(files, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Errorf("%d files, %v", len(entries), err)
	}
	blocked := filepath.Join(dir, MarkdownName)
	if _, err := WriteAll(blocked, s); err == nil {
		t.Error("no error where the folder is a file")
	}
}
