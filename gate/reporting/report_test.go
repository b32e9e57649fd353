package reporting

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/internal/stats"
	"pawl/objective/profile"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func key(kernel, workload string) baseline.Key {
	return baseline.Key{Device: "Example Chip", Kernel: kernel, Workload: workload, Type: "f16"}
}

// evidence makes up a comparison of round numbers.
func evidence(baseline, candidate float64) *gate.Evidence {
	change := stats.Change(baseline, candidate)
	delta := 0.8
	if change < 0 {
		delta = -0.8
	}
	side := func(ms float64) gate.Side {
		return gate.Side{
			Median:    ms,
			Interval:  stats.Interval{Low: 0.99 * ms, High: 1.01 * ms},
			Variation: 0.02,
			Processes: 20,
			Samples:   400,
		}
	}
	return &gate.Evidence{
		Change: change, Interval: stats.Interval{Low: change - 0.01, High: change + 0.01}, P: 0.0019, Delta: delta,
		Rounds: 20, Statistic: gate.Median, Spread: 0.01,
		Baseline: side(baseline), Candidate: side(candidate),
	}
}

func result(k baseline.Key, verdict gate.Verdict, reason string, before, after float64) Result {
	r := Result{
		Key: k, Point: "BLOCK=64,MODE=\"a|b\"", BaselinePoint: "BLOCK=32",
		BaselineCommit: "0123456789abcdef0123456789abcdef01234567",
		Baseline:       before, Current: after, Policy: gate.Presets["standard"], Seconds: 1.5,
		Command: "pawl gate " + k.Kernel + " --workload " + k.Workload + " --seed 1",
	}
	r.Comparison = gate.Comparison{Decision: gate.Decision{Verdict: verdict, Reason: reason}, Method: gate.Interleaved}
	if before > 0 && after > 0 {
		r.Evidence, r.SmallestRegression = evidence(before, after), 0.034
		r.Tails = []gate.Tail{{
			Quantile:  0.95,
			Baseline:  1.1 * before,
			Candidate: 1.1 * before,
			Interval:  stats.Interval{Low: -0.01, High: 0.01},
			P:         0.5,
			Units:     20,
			Limit:     0.1,
		}}
		control := *evidence(before, before)
		control.P, control.Delta = 0.7, 0
		r.Control = &control
	}
	return r
}

// example has one result of every kind; it fails, so the baseline did not move.
func example() *Report {
	slower := result(key("attention", "long"), gate.Regression, "slower by 8.0 %, more than 3.0 %", 1, 1.08)
	slower.Evidence.Candidate.Variation = 0.2
	slower.Notes = []string{"the candidate's times vary by 20.0 % inside a process, more than 12.0 %"}
	slower.Comparison = slower.WithConditions(nil, gate.Conditions{
		gate.Baseline: {ClockLow: 1965, ClockMedian: 1980, ClockHigh: 1980, Temperature: 79, Power: 640},
		gate.Candidate: {
			ClockLow:    1830,
			ClockMedian: 1905,
			ClockHigh:   1980,
			Temperature: 86,
			Power:       699,
			Discarded:   2,
			Reasons:     "software thermal slowdown",
		},
	})
	slower.Tails = []gate.Tail{{
		Quantile: 0.95, Baseline: 1.1, Candidate: 2.2, Change: -1, Interval: stats.Interval{Low: -1.1, High: -0.9},
		P: 0.0019, Units: 10, Limit: 0.1, Slower: true,
	}}
	slower.Why = &profile.Comparison{
		Speedup: 1 / 1.08, Profiled: true,
		Before:  profile.Limiter{Name: profile.Memory, Text: "The device's memory is busy 90 % of the time."},
		After:   profile.Limiter{Name: profile.L2, Text: "The L2 cache is busy 95 % of the time."},
		Changes: []profile.Change{{Name: "sectors of local memory", Before: 0, After: 5e6, Text: "0 → 5 million"}},
		Why: "It takes 1.08 times as long: more time is lost to spills; before: none of that; now: 12 % of the " +
			"traffic to L2 is local memory.",
	}
	faster := result(key("attention", "chat"), gate.Improvement, "faster by 20.0 %, more than 5.0 %", 0.05, 0.04)
	faster.Confirmation = evidence(0.05, 0.041)
	faster.Best = evidence(0.06, 0.04)
	same := result(key("matmul", "deep"), gate.NoDifference, "the intervals overlap", 1500, 1501)
	same.Evidence.P, same.Evidence.Delta = 0.6, -0.02
	same.SmallestRegression = 0
	first := result(key("scale", "small"), gate.New, "there is no baseline yet; this becomes it", 0, 2)
	first.BaselinePoint, first.BaselineCommit = "", ""
	return &Report{
		Exit: 1,
		Time: time.Date(2026, 7, 30, 6, 0, 0, 0, time.UTC), Device: "Example Chip",
		Commit: "fedcba9876543210fedcba9876543210fedcba98-dirty",
		Results: []Result{
			result(key("matmul", "tall"), gate.Wrong, "fuzz: wrong result: c[0] is 1 <&> not 2", 3, 0),
			slower, faster,
			result(key("matmul", "square"), gate.Maintained, "slower by 1.0 %, which is within the limits", 1000, 1010),
			same, first,
			result(key("scale", "large"), gate.Inconclusive, "too noisy: 300 rounds would decide", 4, 4.1),
		},
	}
}

func golden(t *testing.T, name string, render func(io.Writer) error) []byte {
	t.Helper()
	var got bytes.Buffer
	if err := render(&got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs from its golden file; go test ./gate/reporting -update rewrites it\n%s", name, got.Bytes())
	}
	return got.Bytes()
}

func TestGolden(t *testing.T) {
	r := example()
	golden(t, MarkdownName, func(w io.Writer) error { return Markdown(w, r) })
	golden(t, "step_summary.md", func(w io.Writer) error { return StepSummary(w, r) })
	encoded := golden(t, JSONName, r.JSON)
	var decoded Report
	if err := json.Unmarshal(encoded, &decoded); err != nil ||
		decoded.Results[1].Evidence.Change != r.Results[1].Evidence.Change {
		t.Errorf("%v", err)
	}
	junit := golden(t, JUnitName, func(w io.Writer) error { return JUnit(w, r) })
	var s suite
	if err := xml.Unmarshal(junit, &s); err != nil || s.Failures != 2 || s.Skipped != 2 || len(s.Cases) != 7 {
		t.Errorf("%v: %+v", err, s)
	}
}

// A run without a failure says that it moved the baseline.
func TestMovedBaseline(t *testing.T) {
	r := &Report{Results: example().Results[2:3], Updated: true}
	var page bytes.Buffer
	if err := Markdown(&page, r); err != nil || !strings.Contains(page.String(), "## Improvements, baseline updated") {
		t.Errorf("%v: %s", err, page.String())
	}
}

func TestHeadlines(t *testing.T) {
	for want, verdicts := range map[string][]gate.Verdict{
		"nothing was compared":                                  {},
		"**fail**: k w f16: wrong: because wrong; 1 more fails": {gate.Wrong, gate.Regression},
		"**fail**: k w f16: because regression; 2 more fail; 1 unchanged": {
			gate.Regression, gate.Maintained, gate.Wrong, gate.Vanished,
		},
		"**pass**: k w f16: because improvement; 1 unchanged":                       {gate.Improvement, gate.Maintained},
		"**pass**: performance is maintained":                                       {gate.Maintained},
		"**neutral**: k w f16: inconclusive at":                                     {gate.Improvement, gate.Inconclusive},
		"**neutral**: k w f16: infeasible: because infeasible; 1 more is undecided": {gate.Infeasible, gate.Inconclusive},
		"**neutral**: k w f16: because new; 1 unchanged":                            {gate.NoDifference, gate.New},
		"**fail**: k w f16: because vanished":                                       {gate.New, gate.Vanished},
		"**pass**: no significant difference":                                       {gate.NoDifference, gate.Maintained},
	} {
		r := &Report{}
		for _, v := range verdicts {
			r.Results = append(r.Results, result(key("k", "w"), v, "because "+string(v), 1, 1))
		}
		if got := Headline(r); !strings.HasPrefix(got, want) {
			t.Errorf("%v: %s, want %s", verdicts, got, want)
		}
	}
}

// Strict makes a failure of what is undecided, in every form of the report.
func TestStrict(t *testing.T) {
	for verdict, fails := range map[gate.Verdict]bool{
		gate.New: false, gate.Inconclusive: true, gate.Infeasible: true,
		gate.NoDifference: false, gate.Maintained: false,
	} {
		r := &Report{Strict: true, Results: []Result{result(key("k", "w"), verdict, "", 1, 1)}}
		var junit bytes.Buffer
		if err := JUnit(&junit, r); err != nil {
			t.Fatal(err)
		}
		if r.Failed() != fails || strings.Contains(Headline(r), "the policy lets nothing") != fails ||
			strings.Contains(junit.String(), "<failure") != fails {
			t.Errorf("%s: %v, %s\n%s", verdict, r.Failed(), Headline(r), junit.String())
		}
	}
}

// The trend shows where the level changed for good.
func TestTrend(t *testing.T) {
	var events []baseline.Event
	for i := range 40 {
		median := 2.0 + 0.002*float64(i%3)
		if i >= 20 {
			median *= 0.8
		}
		verdict := gate.NoDifference
		if i == 20 {
			verdict = gate.Improvement
		}
		events = append(events, baseline.Event{
			Time: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC), Key: key("attention", "chat"), Commit: "0123456789abcdef",
			Verdict: verdict, Median: median, Interval: stats.Interval{Low: 0.99 * median, High: 1.01 * median},
		})
	}
	events = append(events, baseline.Event{Key: key("attention", "chat"), Verdict: gate.Wrong}) // measured nothing
	// Three acceptances of one measurement are no change of level.
	loss := baseline.Acceptance{
		Key:    key("attention", "chat"),
		Time:   time.Date(2026, 2, 10, 0, 0, 0, 0, time.UTC),
		Reason: "clearer & <shorter>",
		From:   2,
		To:     2.5,
	}
	for range 3 {
		figures := baseline.Figures{Median: 2.5, Interval: stats.Interval{Low: 2.4, High: 2.6}}
		events = append(events, loss.Event(baseline.Entry{Figures: figures}))
	}
	trends := Trends(events)
	if len(trends) != 1 || len(trends[0].Events) != 43 || *trends[0].Events[42].Change != -0.25 ||
		len(trends[0].Steps) != 1 || trends[0].Steps[0] != 20 {
		t.Fatalf("%+v", trends)
	}
	picture := golden(t, "trend.svg", func(w io.Writer) error { return TrendSVG(w, trends) })
	if err := xml.Unmarshal(picture, new(any)); err != nil {
		t.Error(err)
	}
}

func TestWriteAll(t *testing.T) {
	paths, err := WriteAll(filepath.Join(t.TempDir(), "results"), example())
	if err != nil || len(paths) != 3 {
		t.Fatalf("%v, %v", paths, err)
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
}
