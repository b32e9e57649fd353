package studies

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pawl/internal/postgrestest"
	"pawl/objective"
	"pawl/search/trial"
)

// testEngine is a kind of database that the tests below hold to the same behavior.
type testEngine struct {
	// place returns where a database can be that there is not yet.
	place func(t testing.TB) string
	// crowds is how often several processes meet at a new database.
	crowds int
	// change executes statements behind the store's back.
	change func(t *testing.T, place string, statements ...string)
	// setVersion pretends another version.
	setVersion func(t *testing.T, place string, version int)
}

var testEngines = map[string]testEngine{
	"sqlite": {
		crowds: 10,
		place:  func(t testing.TB) string { return filepath.Join(t.TempDir(), "studies.db") },
		change: execute,
		setVersion: func(t *testing.T, place string, version int) {
			execute(t, place, fmt.Sprintf("PRAGMA user_version = %d", version))
		},
	},
	"postgres": {
		crowds: 2,
		place:  postgrestest.Database,
		change: func(t *testing.T, place string, statements ...string) {
			for _, statement := range statements {
				postgrestest.Exec(t, place, (&postgres{}).translate(statement))
			}
		},
		setVersion: setVersionOnServer,
	},
}

func setVersionOnServer(t *testing.T, place string, version int) {
	t.Helper()
	postgrestest.Exec(t, place, fmt.Sprintf("UPDATE %s SET version_id = %d", versionTable, version))
}

func (testEngine) open(t *testing.T, place string) *Store {
	t.Helper()
	store, err := Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// conformance is what a store does, on whatever engine.
var conformance = map[string]func(*testing.T, testEngine){
	"a study comes back":                       testStudyRoundTrip,
	"trials and rounds come back":              testTrialsAndRoundsRoundTrip,
	"any text comes back":                      testAnyText,
	"the recorder refuses lies":                testTheRecorderRefusesLies,
	"another version is left alone":            testAnotherVersionIsLeftAlone,
	"several open a new one at once":           testSeveralOpenANewOneAtOnce,
	"several processes share one database":     testSeveralProcessesShareOneDatabase,
	"what is not there is not made":            testOpenExisting,
	"rounds on other workloads":                testRoundsOnOtherWorkloadsComeBack,
	"gatings":                                  testGatings,
	"gatings from several processes":           testGatingsFromSeveralProcesses,
	"profiles":                                 testProfiles,
	"one process per study":                    testOneProcessPerStudy,
	"the pulse":                                testPulse,
	"annotations and deletion":                 testAnnotationsAndDeletion,
	"asking whether a study runs":              testRunningAsksWithoutLocking,
	"a changed row is found":                   testAChangedRowIsFound,
	"a killed process leaves whole trials":     testKills,
	"a killed process leaves its study's lock": testAKilledOwner,
	"copies":                              testCopies,
	"a copy to the other engine and back": testCopyThereAndBack,
	"a copy is refused for what is there": testCopyRefuses,
}

func TestConformance(t *testing.T) {
	for name, e := range testEngines {
		t.Run(name, func(t *testing.T) {
			for what, test := range conformance {
				t.Run(what, func(t *testing.T) { test(t, e) })
			}
		})
	}
}

// BenchmarkTrial is what recording a trial takes: its beginning and its outcome.
func BenchmarkTrial(b *testing.B) {
	for name, e := range testEngines {
		b.Run(name, func(b *testing.B) {
			store, err := Open(b.Context(), e.place(b))
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			id, err := store.Create(b.Context(), exampleStudy())
			if err != nil {
				b.Fatal(err)
			}
			unlock, err := store.Lock(id)
			if err != nil {
				b.Fatal(err)
			}
			defer unlock()
			for i := 0; b.Loop(); i++ {
				if err := recordTrials(store.Recorder(id), i, i+1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a compiler prints may be anything.
func testAnyText(t *testing.T, e testEngine) {
	store := e.open(t, e.place(t))
	id, err := store.Create(t.Context(), exampleStudy())
	if err != nil {
		t.Fatal(err)
	}
	recorder := store.Recorder(id)
	for i, text := range []string{"", "ä \U0001F600", "a\x00b", "\xff\xfe no UTF-8", "' \" \\ ? $1 :x",
		strings.Repeat("long ", 1<<18)} {
		trial := trial.Trial{
			Number:  i,
			Point:   examplePoint(i),
			Outcome: objective.Outcome{Failure: &objective.Failure{Stage: objective.Compile, Reason: "r", Detail: text}},
		}
		if err := errors.Join(recorder.Started(trial), recorder.Finished(trial)); err != nil {
			t.Fatalf("%.20q: %v", text, err)
		}
		past, err := store.Past(t.Context(), id)
		if err != nil {
			t.Fatalf("%.20q: %v", text, err)
		}
		if got, want := past.Trials[i].Outcome.Failure.Detail, store.engine.storable(text); got != want {
			t.Errorf("%.20q is %.20q", text, got)
		}
	}
}

// A row that somebody has changed is not what was recorded.
func testAChangedRowIsFound(t *testing.T, e testEngine) {
	place := e.place(t)
	store := e.open(t, place)
	record(t, store)
	store.Close()
	e.change(t, place, "UPDATE trials SET samples = '[0.001]' WHERE study = 1 AND number = 7",
		"UPDATE studies SET kernel = 'x' WHERE id = 2")
	store = e.open(t, place)
	var damage *DamagedError
	if _, err := store.Past(t.Context(), 1); !errors.As(err, &damage) ||
		!strings.Contains(err.Error(), "trial 7 is not what was recorded") {
		t.Errorf("got %v", err)
	}
	all, err := store.List(t.Context())
	if err != nil || len(all) != 2 || !strings.Contains(all[0].Damaged, "its head is not what was recorded") {
		t.Errorf("%+v, %v", all, err)
	}
}

// endless writes trials until it is killed, and says on standard output which ones are
// recorded.
func endless(place string) error {
	store, err := Open(context.Background(), place)
	if err != nil {
		return err
	}
	all, err := store.List(context.Background())
	if err != nil {
		return err
	}
	unlock, err := store.Lock(all[0].ID)
	if err != nil {
		return err
	}
	defer unlock()
	past, err := store.Past(context.Background(), all[0].ID)
	if err != nil {
		return err
	}
	recorder := store.Recorder(all[0].ID)
	for i := len(past.Trials); ; i++ {
		trial := trial.Trial{
			Number:  i,
			Point:   examplePoint(i),
			Outcome: objective.Outcome{Samples: []float64{float64(i + 1)}},
		}
		if err := errors.Join(recorder.Started(trial), recorder.Finished(trial)); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

func init() { roles["PAWL_TEST_ENDLESS"] = endless }

// holder holds the lock of the newest study until it is killed, and writes nothing.
func init() {
	roles["PAWL_TEST_HOLDER"] = func(place string) error {
		store, err := Open(context.Background(), place)
		if err != nil {
			return err
		}
		id, err := store.Newest(context.Background())
		if err != nil {
			return err
		}
		if _, err := store.Lock(id); err != nil {
			return err
		}
		fmt.Println(id)
		for { // Go's runtime would end a process that waits for nothing
			time.Sleep(time.Hour)
		}
	}
}

// startEndless returns when the process has recorded some trials.
func startEndless(t *testing.T, place string, trials int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	return startRole(t, "PAWL_TEST_ENDLESS", place, trials)
}

// startRole returns when another process has printed so many lines.
func startRole(t *testing.T, role, place string, trials int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+place)
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	lines := bufio.NewScanner(output)
	for range trials {
		if !lines.Scan() {
			t.Fatal("it records nothing")
		}
	}
	return cmd, lines
}

// A process that is killed in the middle of recording leaves each trial whole: what it said
// was recorded is there, and whoever goes on finds nothing in the way.
func testKills(t *testing.T, e testEngine) {
	place := e.place(t)
	store := e.open(t, place)
	id, err := store.Create(t.Context(), exampleStudy())
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		cmd, lines := startEndless(t, place, 1)
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		said := lines.Text()
		for lines.Scan() {
			said = lines.Text()
		}
		cmd.Wait() // it was killed
		whole(t, e.open(t, place), id, said)
		awaitFree(t, store, id)
	}
}

// whole checks that trials are numbered without a gap, and told up to the one that was said.
func whole(t *testing.T, store *Store, id int64, said string) {
	t.Helper()
	past, err := store.Past(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	told := -1
	for i, trial := range past.Trials {
		if trial.Number != i {
			t.Fatalf("trial %d is number %d", i, trial.Number)
		}
		if trial.Finished {
			told = i
			if !reflect.DeepEqual(trial.Outcome.Samples, []float64{float64(i + 1)}) {
				t.Errorf("trial %d is %+v", i, trial)
			}
		}
	}
	var last int
	if _, err := fmt.Sscan(said, &last); err != nil || told < last {
		t.Errorf("%q was said to be recorded, and %d is (%v)", said, told, err)
	}
}

// awaitFree waits until nobody runs a study: a server needs a moment to notice an end.
func awaitFree(t *testing.T, store *Store, id int64) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		running, err := store.Running(id)
		if err != nil {
			t.Fatal(err)
		}
		if !running {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the lock of a killed process stays")
		}
	}
}

// Another process cannot run a study whose owner lives, and can when it was killed.
func testAKilledOwner(t *testing.T, e testEngine) {
	place := e.place(t)
	store := e.open(t, place)
	id, err := store.Create(t.Context(), exampleStudy())
	if err != nil {
		t.Fatal(err)
	}
	cmd, _ := startEndless(t, place, 1)
	if _, err := store.Lock(id); !errors.Is(err, ErrBusy) {
		t.Errorf("the owner lives: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // it was killed
	awaitFree(t, store, id)
	unlock, err := store.Lock(id)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
