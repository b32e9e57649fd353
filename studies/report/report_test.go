package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/internal/stats"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/worker"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func point(t testing.TB, text string) space.Point {
	t.Helper()
	p, err := space.ParsePoint(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// exampleStudy is a study of a small space whose times are made up: 4 ms for
// the default, half of that for the winner, a little noise from a fixed seed.
func exampleStudy(t testing.TB) studies.Study {
	t.Helper()
	return studies.Study{
		ID:      7,
		Subject: studies.Subject{Kernel: "scale", Origin: "./scale", Workload: "small", Dims: "N=1000", Backend: "host"},
		Sampler: "tpe",
		Seed:    1,
		Source:  "0123456789abcdef",
		Space: studies.SpaceFacts{
			Params: []studies.ParamFacts{
				{Name: "BLOCK", Values: []string{"16", "32", "64"}, Default: "16", Ordered: true},
				{Name: "MODE", Values: []string{"plain", `"a|b $x"`}, Default: "plain"},
				{Name: "UNROLL", Values: []string{"1", "2"}, Default: "1", Ordered: true},
			},
			Product: 12, Valid: 12, Infeasible: map[string]int{"8 threads, this machine has 2 cores": 3},
		},
		Work: studies.Work{Flops: 2e6, Bytes: 8e6},
		Environment: objective.Environment{
			Backend:  "host",
			Device:   "Example CPU",
			Cores:    2,
			System:   "linux/amd64",
			Compiler: "cc 1.0",
			Flags:    "-O3",
			Commit:   "abc123",
			Build: &objective.Build{
				Source:    "scale.c",
				Compiler:  []string{"cc"},
				Flags:     []string{"-O3"},
				Libraries: []string{"-lm"},
				Constants: []kernels.Constant{{Name: "WIDTH", Value: "8"}},
			},
		},
		Command: "pawl tune ./scale --workload small --sampler tpe --seed 1 --trials 12",
		Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Conclusion: trial.Conclusion{
			Ended:  trial.TrialsDone,
			Regret: &trial.Regret{Left: 0.015, Sure: 0.9, Draws: 45},
			Spending: trial.Spending{
				Asking:     time.Second,
				Waiting:    3 * time.Second,
				Device:     2 * time.Second,
				Storing:    100 * time.Millisecond,
				Confirming: 14 * time.Second,
			},
			Dead: []string{"UNROLL"},
		},
		Roofline: objective.Roofline{Flops: 2e9, Bytes: 1e10},
	}
}

const winnerText = `BLOCK=64,MODE="a|b $x",UNROLL=2`

// exampleTime is the true time of a point.
func exampleTime(p space.Point) float64 {
	ms := 4.0
	if v, _ := p.Get("BLOCK"); v.Integer() == 64 {
		ms /= 1.6
	}
	if v, _ := p.Get("MODE"); v == space.TextValue("a|b $x") {
		ms /= 1.25
	}
	return ms
}

func noisy(rng *rand.Rand, ms float64, n int) []float64 {
	var samples []float64
	for range n {
		samples = append(samples, math.Round(ms*(1+0.01*rng.NormFloat64())*1e6)/1e6)
	}
	return samples
}

// examplePast makes up the trials and rounds of the study. Gain scales the
// winner's advantage: 1 is the full one, 0 none.
func examplePast(t testing.TB, rounds int, gain float64) trial.Past {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var past trial.Past
	for _, block := range []int{16, 32, 64} {
		for _, mode := range []string{"plain", `"a|b $x"`} {
			for _, unroll := range []int{1, 2} {
				p := point(t, fmt.Sprintf("BLOCK=%d,MODE=%s,UNROLL=%d", block, mode, unroll))
				trial := trial.Trial{
					Number:   len(past.Trials),
					Point:    p,
					Finished: true,
					Elapsed:  time.Duration(len(past.Trials)+1) * time.Second,
				}
				trial.Outcome.Spent = objective.Spent{
					Compile: 300 * time.Millisecond,
					Check:   10 * time.Millisecond,
					Measure: 100 * time.Millisecond,
				}
				trial.Outcome.Resources = &objective.Resources{
					Registers:  2 * block,
					SpillLoads: 4 * (unroll - 1),
					Shared:     1024 * block,
					Launch: &kernels.LaunchDimensions{
						Grid:   [3]int64{100, 8, 1},
						Block:  [3]int64{int64(4 * block), 1, 1},
						Shared: int64(1024 * block),
					},
				}
				if block == 32 && unroll == 2 {
					trial.Outcome.Failure = &objective.Failure{Stage: objective.Fuzz, Reason: "crashed", Detail: "SIGSEGV | at N=7"}
				} else {
					trial.Outcome.Samples = noisy(rng, 4+gain*(exampleTime(p)-4), 10)
				}
				past.Trials = append(past.Trials, trial)
			}
		}
	}
	past.Elapsed = 20 * time.Second
	measure := func(phase trial.Phase, texts ...string) {
		for number := range rounds {
			for _, text := range texts {
				p := point(t, text)
				past.Rounds = append(past.Rounds, trial.Round{Phase: phase, Number: number, Point: p,
					Outcome: objective.Outcome{
						Samples:    noisy(rng, 4+gain*(exampleTime(p)-4), 10),
						Conditions: exampleConditions(number),
						Evidence:   exampleEvidence(phase, number, p),
					}})
			}
		}
	}
	measure(trial.Confirmation, "BLOCK=16,MODE=plain,UNROLL=1", winnerText, `BLOCK=64,MODE=plain,UNROLL=1`)
	if gain > 0 {
		measure(trial.Ablation, "BLOCK=16,MODE=plain,UNROLL=1", "BLOCK=64,MODE=plain,UNROLL=1",
			`BLOCK=64,MODE="a|b $x",UNROLL=1`, winnerText)
	}
	return past
}

// exampleEvidence is what the first round of a confirmation carries: the winner's
// is a little less exact.
func exampleEvidence(phase trial.Phase, round int, p space.Point) *check.Evidence {
	if phase != trial.Confirmation || round > 0 {
		return nil
	}
	e := &check.Evidence{Tolerance: arguments.Tolerance{Absolute: 1e-6, Relative: 1e-4}}
	for i, family := range []string{"", "signs", "one-hot"} {
		e.Cases = append(e.Cases,
			check.Case{Dims: kernels.Dims{"N": int64(7 + i)}, Seed: uint64(40 + i), Family: family, Layout: worker.Misaligned},
			check.Case{Dims: kernels.Dims{"N": 1000}, Seed: uint64(50 + i), Family: family})
	}
	if p.String() == winnerText {
		e.Worst, e.At = 0.1234, &e.Cases[2]
	}
	return e
}

// exampleConditions are those of a device that gets warm and is throttled once.
func exampleConditions(round int) *worker.Conditions {
	c := &worker.Conditions{
		Device:      "GPU-1",
		ClockLow:    1900 - round,
		ClockMedian: 1950,
		ClockHigh:   1980,
		Temperature: 75 + round,
		Power:       600,
	}
	if round == 9 {
		c.Discarded, c.Reasons = 2, "software thermal slowdown"
	}
	return c
}

func summary(t testing.TB, past trial.Past) *Summary {
	t.Helper()
	s, err := Summarise(exampleStudy(t), past)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// asJSON is Summary.JSON in the form of the other writers.
func asJSON(w io.Writer, s *Summary) error { return s.JSON(w) }

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
		want Verdict
	}{{&best, 2.13, Unproven}, {&best, 1.08, Keep}, {&behind, math.Inf(1), Keep}, {nil, math.Inf(1), Keep}} {
		s := &Summary{Default: &Timed{}, Winner: &Timed{Rounds: 6}}
		s.Study.Options.Rounds = 10
		s.Top = []Timed{{Best: test.best, SpeedupInterval: &stats.Interval{Low: 0.2, High: test.high}}}
		if got := advise(s); got.Verdict != test.want || got.Verdict == Unproven &&
			!strings.Contains(got.Sentence, "another point may be more than 10 % faster. pawl tune") {
			t.Errorf("%+v: %+v", test, got)
		}
		if s.Winner.Rounds = 10; test.want == Unproven && !strings.Contains(s.Confirming(), "--rounds 20") {
			t.Error(s.Confirming())
		}
	}
}

func TestAdvice(t *testing.T) {
	for _, test := range []struct {
		name string
		past trial.Past
		want Verdict
	}{
		{"a factor of two", examplePast(t, 10, 1), Apply},
		{"no difference at all", examplePast(t, 10, 0), Noise},
		{"two per cent", examplePast(t, 10, 0.04), Noise},
		{"seven per cent", examplePast(t, 10, 0.13), Consider},
		{"too few rounds", examplePast(t, 2, 1), Unconfirmed},
		{"no trial", trial.Past{}, Unconfirmed},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := summary(t, test.past)
			got := s.Advice.Verdict
			if test.want == Noise && got == Keep {
				return // the default itself may come out ahead of equals
			}
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
