package pages

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/objective"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// hostile is what a manifest, a compiler or a branch may be called.
const hostile = "\"><script>alert(1)</script><img src=x onerror=alert(2)>\u202e{{.}}'`&amp;\x1b[31m"

// database is a file with room for studies.
func database(t testing.TB) (string, *studies.Store) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "studies.db")
	store, err := studies.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return path, store
}

// head describes a study of four parameters.
func head(kernel, workload, device string) studies.Study {
	s := studies.Study{
		Subject: studies.Subject{Kernel: kernel, Origin: kernel, Workload: workload, Dims: "N=1000", Backend: "host"},
		Sampler: "auto", Seed: 1,
		Source: "0123456789abcdef0123",
		Environment: objective.Environment{
			Backend:  "host",
			Device:   device,
			Cores:    2,
			System:   "linux/amd64",
			Compiler: "cc 1.0",
			Flags:    "-O3",
		},
		Command: "pawl tune " + kernel, Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Options: studies.Options{Goals: trial.Goals{Trials: 100, Rounds: 10}},
		Space:   studies.SpaceFacts{Product: 10000, Valid: 10000},
	}
	for i := range 4 {
		p := studies.ParamFacts{Name: fmt.Sprintf("PARAMETER_%d", i), Default: "0", Ordered: true}
		for v := range 10 {
			p.Values = append(p.Values, fmt.Sprint(v))
		}
		s.Space.Params = append(s.Space.Params, p)
	}
	return s
}

// pointOf spells the digits of a number as a point.
func pointOf(t testing.TB, number int) space.Point {
	t.Helper()
	p, err := space.ParsePoint(fmt.Sprintf("PARAMETER_0=%d,PARAMETER_1=%d,PARAMETER_2=%d,PARAMETER_3=%d", number/1000%10,
		number/100%10, number/10%10, number%10))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// outcome makes up a trial: every tenth one that is not the default fails.
func outcome(rng *rand.Rand, number int) objective.Outcome {
	o := objective.Outcome{
		Binary: fmt.Sprintf("%064x", number),
		Batch:  10,
		Stop:   "narrow",
		Spent:  objective.Spent{Compile: 200 * time.Millisecond, Check: 5 * time.Millisecond, Measure: 30 * time.Millisecond},
	}
	if number > 0 && number%10 == 0 {
		o.Failure = &objective.Failure{Stage: objective.Compile, Reason: "too many registers", Detail: "needs 300"}
		return o
	}
	ms := 1 + float64(number%7)/3 + 1/float64(1+number)
	for range 10 {
		o.Samples = append(o.Samples, ms*(1+0.01*rng.Float64()))
	}
	return o
}

// add records a study with trials and, if it is to be confirmed, rounds.
func add(t testing.TB, store *studies.Store, s studies.Study, trials int, confirmed bool) int64 {
	t.Helper()
	ctx, rng := context.Background(), rand.New(rand.NewPCG(1, 2))
	id, err := store.Create(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	recorder := store.Recorder(id)
	for number := range trials {
		trial := trial.Trial{Number: number, Point: pointOf(t, number), Elapsed: time.Duration(number) * time.Second}
		if err := recorder.Started(trial); err != nil {
			t.Fatal(err)
		}
		trial.Outcome = outcome(rng, number)
		if err := recorder.Finished(trial); err != nil {
			t.Fatal(err)
		}
	}
	if !confirmed {
		return id
	}
	for round := range 8 {
		for _, number := range []int{0, 7, 14} {
			ms := 2.0 - 0.05*float64(number)
			o := objective.Outcome{Batch: 10, Binary: fmt.Sprintf("%064x", number)}
			for range 5 {
				o.Samples = append(o.Samples, ms*(1+0.01*rng.Float64()))
			}
			if err := recorder.Measured(trial.Round{
				Phase:   trial.Confirmation,
				Run:     1,
				Number:  round,
				Point:   pointOf(t, number),
				Outcome: o,
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := store.Finish(ctx, id, trial.Conclusion{Ended: trial.TrialsDone, Elapsed: time.Minute}); err != nil {
		t.Fatal(err)
	}
	return id
}

// serving is a server over a database, without its listener's loop.
func serving(t testing.TB, path string) *Server {
	t.Helper()
	s, err := Listen(Options{
		Database: path,
		Place:    studies.Place{Baseline: filepath.Join(filepath.Dir(path), "baseline.json")},
		Address:  "127.0.0.1:0",
		Poll:     5 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.listener.Close()
		select {
		case <-s.closing:
		default:
			close(s.closing)
		}
		<-s.read(nil, nil) // a line may still be read
		s.library.Close()
	})
	return s
}

// get asks for a page.
func get(t testing.TB, s *Server, target string, change ...func(*http.Request)) (int, string, http.Header) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Host = "127.0.0.1:7295"
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(body), w.Header()
}

// wants fails where a page lacks something.
func wants(t testing.TB, body string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(body, part) {
			t.Errorf("no %q in\n%.3000s", part, body)
		}
	}
}
