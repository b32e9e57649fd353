package studies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl/objective"
	"pawl/search/trial"
	"pawl/space"
)

// roles are what the test binary does as another process, by the variable that
// names a database for it.
var roles = map[string]func(path string) error{"PAWL_TEST_WRITER": writer}

func TestMain(m *testing.M) {
	for variable, play := range roles {
		path := os.Getenv(variable)
		if path == "" {
			continue
		}
		if err := play(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const writerTrials = 50

func writer(path string) error {
	store, err := Open(context.Background(), path)
	if err != nil {
		return err
	}
	defer store.Close()
	id, err := store.Create(context.Background(), exampleStudy())
	if err != nil {
		return err
	}
	recorder := store.Recorder(id)
	for i := range writerTrials {
		tried := trial.Trial{Number: i, Point: examplePoint(i)}
		if err := recorder.Started(tried); err != nil {
			return err
		}
		tried.Finished, tried.Outcome.Samples = true, []float64{float64(i + 1)}
		if err := recorder.Finished(tried); err != nil {
			return err
		}
	}
	return nil
}

func examplePoint(n int) space.Point {
	p, err := space.NewPoint(space.Assignment{Name: "A", Value: space.IntegerValue(int64(n))},
		space.Assignment{Name: "W", Value: space.TextValue(`x"; DROP TABLE trials; --`)})
	if err != nil {
		panic(err)
	}
	return p
}

func exampleStudy() Study {
	return Study{
		Subject: Subject{Kernel: "k", Origin: "./k", Workload: "w", Dims: "N=1", Backend: "host"},
		Sampler: "tpe", Seed: math.MaxUint64,
		Fingerprint: "f", Source: "s",
		Space: SpaceFacts{
			Params: []ParamFacts{
				{Name: "A", Values: []string{"1", "2"}, Default: "2", Ordered: true},
				{Name: "W", Values: []string{"x", `"a b"`}, Default: "x"},
			},
			Constraints: []string{"A > 0"}, Product: 4, Valid: 4,
		},
		Work: Work{Flops: 2}, Environment: objective.Environment{Device: "d", Cores: 2},
		First: []space.Point{examplePoint(3)}, Command: "pawl tune ./k",
		Options: Options{Definition: Definition{Seed: 7}},
		Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

func openTest(t *testing.T) *Store {
	t.Helper()
	store, err := Open(t.Context(), filepath.Join(t.TempDir(), "studies.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func testStudyRoundTrip(t *testing.T, e testEngine) {
	store := e.open(t, e.place(t))
	want := exampleStudy()
	id, err := store.Create(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	end := trial.Conclusion{
		Ended:   trial.TrialsDone,
		Elapsed: 3 * time.Second,
		Regret:  &trial.Regret{Left: 0.01, Sure: 0.9, Draws: 45},
	}
	if err := store.Finish(t.Context(), id, end); err != nil {
		t.Fatal(err)
	}
	want.Options, want.Command = Options{Definition{Seed: 7}, trial.Goals{Trials: 9}, false}, "pawl tune ./k --trials 9"
	if err := store.Continue(t.Context(), Study{ID: id, Options: want.Options, Command: want.Command}); err != nil {
		t.Fatal(err)
	}
	want.ID, want.Conclusion = id, end
	got, err := store.Study(t.Context(), id)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if _, err := got.Space.Open(); err != nil {
		t.Error(err)
	}
	if _, err := store.Study(t.Context(), 99); !errors.Is(err, ErrNoStudy) {
		t.Errorf("got %v", err)
	}
}

func testTrialsAndRoundsRoundTrip(t *testing.T, e testEngine) {
	store := e.open(t, e.place(t))
	id, err := store.Create(t.Context(), exampleStudy())
	if err != nil {
		t.Fatal(err)
	}
	recorder := store.Recorder(id)
	measured := trial.Trial{
		Number:   0,
		Point:    examplePoint(0),
		Finished: true,
		Elapsed:  2 * time.Second,
		Outcome: objective.Outcome{
			Samples: []float64{0.1, 1.0 / 3, 2e-9}, Batch: 7, Binary: "abc", SameAs: "A=1", Stop: objective.Precise,
			Spent: objective.Spent{Compile: 1, Check: 2, Measure: 3, CacheHit: true},
		},
	}
	failed := trial.Trial{
		Number:   1,
		Point:    examplePoint(1),
		Finished: true,
		Elapsed:  4 * time.Second,
		Outcome: objective.Outcome{
			Samples: []float64{}, Failure: &objective.Failure{Stage: objective.Fuzz, Reason: "crashed", Detail: "SIGSEGV\nat"},
		},
	}
	running := trial.Trial{Number: 2, Point: examplePoint(2), Outcome: objective.Outcome{Samples: []float64{}}}
	for _, tried := range []trial.Trial{measured, failed, running} {
		if err := recorder.Started(tried); err != nil {
			t.Fatal(err)
		}
		if tried.Finished {
			if len(tried.Outcome.Samples) == 0 {
				tried.Outcome.Samples = nil // as after a failure
			}
			if err := recorder.Finished(tried); err != nil {
				t.Fatal(err)
			}
		}
	}
	round := trial.Round{
		Phase:     trial.Confirmation,
		Run:       2,
		Number:    1,
		OrderSeed: 987_654_321,
		Point:     examplePoint(0),
		Outcome:   objective.Outcome{Samples: []float64{5}, Batch: 1, Binary: "abc"},
	}
	if err := recorder.Measured(round); err != nil {
		t.Fatal(err)
	}
	past, err := store.Past(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if want := []trial.Trial{measured, failed, running}; !reflect.DeepEqual(past.Trials, want) {
		t.Errorf("got %+v\nwant %+v", past.Trials, want)
	}
	if !reflect.DeepEqual(past.Rounds, []trial.Round{round}) {
		t.Errorf("got %+v", past.Rounds)
	}
	var samples string
	if err := store.db.queryRow(t.Context(), []any{&samples},
		"SELECT samples FROM trials WHERE number = 1"); err != nil || samples != "[]" {
		t.Errorf("no samples are %q, %v: an earlier pawl cannot read that", samples, err)
	}
	if past.Elapsed != 4*time.Second {
		t.Errorf("elapsed %v: a killed run's time is its last trial's", past.Elapsed)
	}
}

func testTheRecorderRefusesLies(t *testing.T, e testEngine) {
	store := e.open(t, e.place(t))
	id, err := store.Create(t.Context(), exampleStudy())
	if err != nil {
		t.Fatal(err)
	}
	recorder := store.Recorder(id)
	tried := trial.Trial{Number: 0, Point: examplePoint(0)}
	if err := recorder.Finished(tried); err == nil || strings.Contains(err.Error(), "%!") {
		t.Errorf("finished before it started: %v", err)
	}
	if err := recorder.Started(tried); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Started(trial.Trial{Number: 1, Point: examplePoint(0)}); err == nil {
		t.Error("one point in two trials")
	}
	tried.Outcome.Samples = []float64{math.NaN()}
	if err := recorder.Finished(tried); err == nil {
		t.Error("a NaN was stored")
	}
	tried.Outcome.Samples = []float64{1}
	if err := recorder.Finished(tried); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Finished(tried); err == nil || strings.Contains(err.Error(), "%!") {
		t.Errorf("finished twice: %v", err)
	}
}

func testAnotherVersionIsLeftAlone(t *testing.T, e testEngine) {
	place := e.place(t)
	e.open(t, place).Close()
	for _, version := range []int{1, 99} {
		e.setVersion(t, place, version)
		for _, open := range []func(context.Context, string) (*Store, error){Open, OpenExisting} {
			_, err := open(t.Context(), place)
			var other *OtherVersionError
			if !errors.As(err, &other) || other.Found != version {
				t.Fatalf("got %v", err)
			}
		}
	}
}

func TestNewerFileIsLeftAlone(t *testing.T) {
	store := openTest(t)
	path := store.Path()
	store.Close()
	execute(t, path, "PRAGMA user_version = 99")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Open(t.Context(), path); err == nil {
		t.Fatal("opened")
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("the file was changed")
	}
}

func TestDamagedDatabaseIsSetAside(t *testing.T) {
	for name, content := range map[string]string{
		"garbage":   strings.Repeat("this is no database ", 500),
		"truncated": "SQLite format 3\x00" + strings.Repeat("\x00", 50),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "studies.db")
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			store, err := Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			kept, err := os.ReadFile(store.SetAside)
			if err != nil || string(kept) != content {
				t.Errorf("set aside at %q: %v", store.SetAside, err)
			}
			if _, err := store.Create(t.Context(), exampleStudy()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A page in the middle of a real database is overwritten.
func TestCorruptedPageIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "studies.db")
	if err := writer(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []int64{2, 3, 4, 5} {
		if _, err := f.WriteAt([]byte(strings.Repeat("\xff", 4096)), page*4096); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if store.SetAside == "" {
		t.Error("the damage went unnoticed")
	}
}

func TestReadOnlyFolderIsAClearError(t *testing.T) {
	if os.Geteuid() == 0 {
		// Root may write anywhere: a file where the folder should be does it.
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), filepath.Join(file, "studies.db")); err == nil ||
			!strings.Contains(err.Error(), "study database") {
			t.Errorf("got %v", err)
		}
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "studies.db")); err == nil {
		t.Error("no error")
	}
}

// SQLite does not wait by itself while others turn a new file to write-ahead
// logging: opened without patience, this fails now and then.
func testSeveralOpenANewOneAtOnce(t *testing.T, e testEngine) {
	for range e.crowds {
		place := e.place(t)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				store, err := Open(t.Context(), place)
				if err != nil {
					t.Error(err)
					return
				}
				store.Close()
			})
		}
		wg.Wait()
	}
}

func testSeveralProcessesShareOneDatabase(t *testing.T, e testEngine) {
	path := e.place(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "PAWL_TEST_WRITER="+path)
			if output, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, output)
			}
		})
	}
	written := make(chan struct{})
	go func() { wg.Wait(); close(written) }()
	readUntil(t, path, written)
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	all, err := store.List(t.Context())
	if err != nil || len(all) != 4 {
		t.Fatalf("%d studies, %v", len(all), err)
	}
	for _, s := range all {
		past, err := store.Past(t.Context(), s.ID)
		if err != nil || len(past.Trials) != writerTrials {
			t.Errorf("study %d: %d trials, %v", s.ID, len(past.Trials), err)
		}
	}
}

func testOpenExisting(t *testing.T, e testEngine) {
	if _, err := OpenExisting(t.Context(), e.place(t)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
