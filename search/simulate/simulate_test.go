package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"pawl/internal/page"
	"pawl/internal/thorough"
	"pawl/objective"
	"pawl/search/replay"
	"pawl/space"
)

// bowl records a small space of its own: two ordered parameters, the optimum
// of 1 ms inside, and the points of the last column failing.
func bowl(t *testing.T, width int) *replay.Record {
	t.Helper()
	record := &replay.Record{Kernel: "bowl"}
	for _, name := range []string{"A", "B"} {
		p := space.Param{Name: name, Ordered: true, Default: space.IntegerValue(0)}
		for v := range width {
			p.Values = append(p.Values, space.IntegerValue(int64(v)))
		}
		record.Params = append(record.Params, p)
	}
	for a := range width {
		for b := range width {
			point, err := space.ParsePoint(fmt.Sprintf("A=%d,B=%d", a, b))
			if err != nil {
				t.Fatal(err)
			}
			e := replay.Entry{Point: point}
			if b == width-1 {
				e.Failure = &objective.Failure{Stage: objective.Compile, Reason: objective.CompileError}
			} else {
				da, db := float64(a-width/2), float64(b-width/3)
				e.Milliseconds = 1 + 0.05*(da*da+db*db)
				e.Samples = []float64{0.9 * e.Milliseconds, 1.1 * e.Milliseconds}
			}
			record.Entries = append(record.Entries, e)
		}
	}
	return record
}

func recorded(t *testing.T, record *replay.Record) *Recorded {
	t.Helper()
	s, err := replay.New(record)
	if err != nil {
		t.Fatal(err)
	}
	return NewRecorded("bowl", s)
}

// line is a space of one parameter whose points take the given times; a time of
// 0 fails.
func line(t *testing.T, times ...float64) *Recorded {
	t.Helper()
	record := &replay.Record{Kernel: "line"}
	p := space.Param{Name: "A", Ordered: true, Default: space.IntegerValue(0)}
	for i, time := range times {
		p.Values = append(p.Values, space.IntegerValue(int64(i)))
		point, err := space.ParsePoint(fmt.Sprintf("A=%d", i))
		if err != nil {
			t.Fatal(err)
		}
		e := replay.Entry{Point: point, Milliseconds: time, Samples: []float64{time}}
		if time == 0 {
			e = replay.Entry{Point: point, Failure: &objective.Failure{Stage: objective.Bench, Reason: "crashed"}}
		}
		record.Entries = append(record.Entries, e)
	}
	record.Params = []space.Param{p}
	return recorded(t, record)
}

// expectedFractions returns the exact expectation of the fraction of the
// optimum that uniform random search without repetition has reached after each
// number of evaluations up to a limit.
//
// With P points of which the w-th fastest is drawn among the first m with all
// faster ones absent, the best has rank w with probability
// C(P−w, m−1) / C(P, m). That is m/P for w = 1, and the next follows from the
// last by the factor (P−w−m+1) / (P−w). Points that fail rank last with a
// fraction of 0.
func (r *Recorded) expectedFractions(limit int) []float64 {
	points := r.space.Pool().Len()
	n := len(r.slowToFast)
	expected := make([]float64, limit)
	for m := 1; m <= limit; m++ {
		if m >= points {
			expected[m-1] = 1
			continue
		}
		probability := float64(m) / float64(points)
		for rank := 1; rank <= n && probability > 0; rank++ {
			expected[m-1] += probability * r.optimum() / r.slowToFast[n-rank]
			probability *= float64(points-rank-m+1) / float64(points-rank)
			if points-rank-m+1 <= 0 {
				break
			}
		}
	}
	return expected
}

func TestExpectedFractionsByEnumeration(t *testing.T) {
	// Fractions of the optimum: 1, 1/2, 1/4, and one failure. By hand, over
	// all subsets: m = 1: (1 + 1/2 + 1/4 + 0) / 4 = 0.4375. m = 2: 3 pairs of
	// 6 hold the optimum, 2 the second without it, 1 the third without both:
	// (3 + 1 + 0.25) / 6. m = 3: 3 of 4 triples hold the optimum, the fourth
	// the second: (3 + 0.5) / 4. m = 4: 1.
	s := line(t, 4, 1, 0, 2)
	want := []float64{0.4375, 4.25 / 6, 0.875, 1, 1}
	for i, got := range s.expectedFractions(5) {
		if math.Abs(got-want[i]) > 1e-12 {
			t.Errorf("after %d: %v, want %v", i+1, got, want[i])
		}
	}
}

func TestRunIsRepeatableAndJudgesByTruth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bowl.json")
	if err := page.WriteFile(path, bowl(t, 12).Write); err != nil {
		t.Fatal(err)
	}
	options := Options{Files: []string{path}, Samplers: []string{"random", "evolve"}, Seeds: 20, Trials: 40}
	var calls atomic.Int64
	options.Progress = func(done, total int) {
		if int64(done) != calls.Add(1) || total != 40 {
			t.Errorf("progress %d of %d after %d calls", done, total, calls.Load())
		}
	}
	first, err := Run(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	if calls.Load() != 40 {
		t.Errorf("%d calls of progress, want 40", calls.Load())
	}
	options.Progress = nil
	second, err := Run(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := timeless(t, first), timeless(t, second); a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
	for _, s := range first.Overall {
		for _, e := range s.Fraction {
			if e.Mean > 1 || e.Low > e.Mean || e.High < e.Mean {
				t.Errorf("%s has the fraction %+v", s.Sampler, e)
			}
		}
	}
}

// timeless is the report without the times of the asks.
func timeless(t *testing.T, r *Report) string {
	t.Helper()
	parts := [][]SamplerReport{r.Overall}
	for _, s := range r.Spaces {
		parts = append(parts, s.Samplers)
	}
	for _, samplers := range parts {
		for i := range samplers {
			samplers[i].AskMean = 0
		}
	}
	var out bytes.Buffer
	if err := page.JSON(&out, "pawl simulate", 1, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestRandomReachesItsExpectation(t *testing.T) {
	seeds := thorough.Count(300, 2000)
	s := recorded(t, bowl(t, 12))
	report, err := RunSpaces(context.Background(), []*Recorded{s},
		Options{Samplers: []string{"random"}, Seeds: seeds, Trials: 25})
	if err != nil {
		t.Fatal(err)
	}
	got, want := report.Overall[0].Fraction[0].Mean, s.expectedFractions(25)[24]
	if math.Abs(got-want) > 0.45/math.Sqrt(float64(seeds)) {
		t.Errorf("random search reached %v, its expectation is %v", got, want)
	}
}

func TestASpaceThatIsUsedUpEndsPolitely(t *testing.T) {
	report, err := RunSpaces(context.Background(), []*Recorded{line(t, 0, 3, 2, 1)},
		Options{Samplers: []string{"random"}, Seeds: 5, Trials: 30})
	if err != nil {
		t.Fatal(err)
	}
	if got := report.Overall[0].Fraction[1].Mean; got != 1 {
		t.Errorf("fraction %v after all points, want 1", got)
	}
}

func TestDefaultComesFirstWhereItIsKnown(t *testing.T) {
	record := bowl(t, 6)
	record.DefaultKnown = true
	s := recorded(t, record)
	result, err := s.race(context.Background(), entrant{sampler: "random"}, 1, Options{Trials: 1}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	// A=0, B=0 is 3 and 2 away from the optimum.
	if want := 1 + 0.05*(9+4); result.best[0] != want {
		t.Errorf("first time %v, want the default's %v", result.best[0], want)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []Options{
		{Files: []string{"does-not-exist"}},
	} {
		if _, err := Run(context.Background(), o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	_, err := RunSpaces(context.Background(), []*Recorded{line(t, 1, 2)}, Options{Samplers: []string{"oracle"}})
	if err == nil || !strings.Contains(err.Error(), `"oracle"`) {
		t.Errorf("error %v, want that there is no such sampler", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := RunSpaces(ctx, []*Recorded{line(t, 1, 2)},
		Options{Samplers: []string{"random"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after a cancellation", err)
	}
}

func TestRendering(t *testing.T) {
	spaces := []*Recorded{recorded(t, bowl(t, 8)), line(t, 5, 4, 3, 2, 1)}
	report, err := RunSpaces(context.Background(), spaces,
		Options{Samplers: []string{"random", "grid"}, Seeds: 4, Trials: 30})
	if err != nil {
		t.Fatal(err)
	}
	var text, encoded bytes.Buffer
	if err := errors.Join(report.WriteTable(&text), page.JSON(&encoded, "pawl simulate", 1, report)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"all 2 spaces, 4 seeds", "bowl: 64 points, 56 of them work", "25 trials", "random",
		"grid", "["} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, text.String())
		}
	}
	var back Report
	if err := json.Unmarshal(encoded.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Spaces) != 2 || back.Overall[1].Sampler != "grid" || len(back.Overall[0].Curve) != 30 {
		t.Errorf("the JSON came back as %+v", back)
	}
}
