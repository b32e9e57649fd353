package studies

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"pawl/internal/postgrestest"
	"pawl/objective"
	"pawl/search/trial"
)

// recordTrials records trials as a search does.
func recordTrials(recorder *Recorder, from, to int) error {
	for i := from; i < to; i++ {
		trial := trial.Trial{
			Number:  i,
			Point:   examplePoint(i),
			Outcome: objective.Outcome{Samples: []float64{float64(i + 1)}},
		}
		if err := errors.Join(recorder.Started(trial), recorder.Finished(trial)); err != nil {
			return fmt.Errorf("trial %d: %w", i, err)
		}
	}
	return nil
}

// begun returns a study that this process runs.
func begun(t *testing.T, store *Store) int64 {
	t.Helper()
	id, err := store.Create(t.Context(), exampleStudy())
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := store.Lock(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(unlock)
	return id
}

// A server that is restarted in the middle of a search is waited for; one that does not come
// back ends it with a sentence.
func TestTheServerRestarts(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	store := testEngines["postgres"].open(t, server.Database(t))
	id := begun(t, store)
	recorder := store.Recorder(id)
	if err := recordTrials(recorder, 0, 5); err != nil {
		t.Fatal(err)
	}
	server.Stop(t)
	recorded := make(chan error, 1)
	go func() { recorded <- recordTrials(recorder, 5, 10) }()
	time.Sleep(50 * time.Millisecond) // so that it finds nobody at first
	server.Restart(t)
	if err := <-recorded; err != nil {
		t.Fatal(err)
	}
	whole(t, store, id, "9")
	server.Stop(t)
	store.reconnecting = 200 * time.Millisecond
	if err := recordTrials(recorder, 10, 11); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("got %v", err)
	}
}

// A process whose study another has taken over meanwhile cannot write to it any more.
func TestAZombieCannotWrite(t *testing.T) {
	t.Parallel()
	place := postgrestest.Database(t)
	zombie, heir := testEngines["postgres"].open(t, place), testEngines["postgres"].open(t, place)
	id, err := zombie.Create(t.Context(), exampleStudy())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := zombie.Lock(id); err != nil {
		t.Fatal(err)
	}
	if err := recordTrials(zombie.Recorder(id), 0, 3); err != nil {
		t.Fatal(err)
	}
	postgrestest.Exec(t, place, terminate)
	awaitFree(t, heir, id)
	if _, err := heir.Lock(id); err != nil {
		t.Fatal(err)
	}
	zombie.reconnecting = 2 * time.Second
	if err := recordTrials(zombie.Recorder(id), 3, 4); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v", err)
	}
	if err := recordTrials(heir.Recorder(id), 3, 6); err != nil {
		t.Error(err)
	}
	whole(t, heir, id, "5")
}

// Whatever is wrong with a server, the sentence says what, and never the password.
func TestServersThatCannotBeUsed(t *testing.T) {
	place := postgrestest.Database(t)
	u, err := url.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*url.URL)) string {
		changed := *u
		change(&changed)
		return changed.String()
	}
	foreign := postgrestest.Database(t)
	postgrestest.Exec(t, foreign, "CREATE TABLE customers (id int); CREATE TABLE trials (patient text)")
	for name, test := range map[string]struct{ place, want string }{
		"password": {postgrestest.As(t, place, "administrator", "a-wrong-secret"),
			"the password is wrong or missing; PAWL_DB may hold it, or a line of the file that PGPASSFILE names"},
		"user": {postgrestest.As(t, place, "nobody", postgrestest.Password), "refuses the user nobody"},
		"database": {with(func(u *url.URL) { u.Path = "/none" }),
			"there is no database postgres://administrator@" + u.Host + "/none on the server; createdb none makes it"},
		"port": {with(func(u *url.URL) { u.Host = "127.0.0.1:1" }), "cannot be reached: "},
		"host": {with(func(u *url.URL) { u.Host = "pawl.invalid:5432" }), "the host pawl.invalid is not known"},
		"tls":  {with(func(u *url.URL) { u.RawQuery = "sslmode=require" }), "refused TLS"},
		"mode": {with(func(u *url.URL) { u.RawQuery = "sslmode=maybe" }), "the URL of the database cannot be read"},
		"escape": {"postgres://administrator:" + postgrestest.Password + "%zz@" + u.Host + "/x",
			"the URL of the database cannot be read"},
		"at": {"postgres://administrator:" + postgrestest.Password + "@@[::1/x",
			"the URL of the database cannot be read"},
		"scheme": {"mysql://administrator:" + postgrestest.Password + "@h/x",
			"a study database is a file, or begins with postgres://"},
		"foreign": {foreign,
			"is somebody else's: it has 2 tables (customers, trials), and nothing of pawl's; make a database for pawl alone"},
	} {
		for _, open := range []func(context.Context, string) (*Store, error){Open, OpenExisting} {
			_, err := open(t.Context(), test.place)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %s", name, err, test.want)
			}
			if err != nil &&
				(strings.Contains(err.Error(), postgrestest.Password) || strings.Contains(err.Error(), "secret") ||
					strings.Contains(err.Error(), "\n")) {
				t.Errorf("%s: the sentence is %v", name, err)
			}
		}
	}
}

// Roles may do what they were granted: make the tables, write to them, or read them.
func TestRights(t *testing.T) {
	t.Parallel()
	place := postgrestest.Database(t)
	postgrestest.Exec(t, place,
		"CREATE ROLE searcher LOGIN PASSWORD 's'; CREATE ROLE reader LOGIN PASSWORD 'r'; CREATE ROLE stranger LOGIN "+
			"PASSWORD 'x'")
	t.Cleanup(func() {
		// The roles are the server's, not the database's.
		postgrestest.Exec(t, place, "DROP OWNED BY searcher, reader, stranger; DROP ROLE searcher, reader, stranger")
	})
	searcher, reader := postgrestest.As(t, place, "searcher", "s"), postgrestest.As(t, place, "reader", "r")
	if _, err := Open(t.Context(), searcher); err == nil ||
		!strings.Contains(err.Error(), "searcher may not make them: let the owner of the database") {
		t.Errorf("got %v", err)
	}
	store := testEngines["postgres"].open(t, place)
	record(t, store)
	postgrestest.Exec(t, place,
		`GRANT SELECT, INSERT, UPDATE ON studies, trials, rounds, gatings, across, profiles, summaries TO searcher;
		GRANT SELECT ON ALL TABLES IN SCHEMA public TO searcher, reader`)
	written := testEngines["postgres"].open(t, searcher)
	id, err := written.Create(t.Context(), Study{Subject: Subject{Kernel: "own"}})
	if err != nil || recordTrials(written.Recorder(id), 0, 2) != nil {
		t.Fatal(id, err)
	}
	read := testEngines["postgres"].open(t, reader)
	if past, err := read.Past(t.Context(), id); err != nil || len(past.Trials) != 2 {
		t.Errorf("%d trials, %v", len(past.Trials), err)
	}
	if _, err := read.Create(t.Context(), exampleStudy()); err == nil ||
		!strings.Contains(err.Error(), "does not allow the user reader to do this (permission denied for table studies)") {
		t.Errorf("got %v", err)
	}
	if _, err := OpenExisting(t.Context(), postgrestest.As(t, place, "stranger", "x")); err == nil ||
		!strings.Contains(err.Error(), "does not allow the user stranger") {
		t.Errorf("got %v", err)
	}
}

// Rows are in the same order on every server, whatever its language.
func TestTextsAreComparedByteByByte(t *testing.T) {
	store := testEngines["postgres"].open(t, postgrestest.Database(t))
	var other int
	err := store.db.queryRow(t.Context(), []any{&other},
		"SELECT COUNT(*) FROM information_schema.columns WHERE table_name IN ('studies', 'trials', 'rounds', 'gatings', "+
			"'across', 'profiles') AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'")
	if err != nil || other > 0 {
		t.Errorf("%d columns, %v", other, err)
	}
}

// A full disk ends a search with a sentence; what was recorded is there, and when there is room
// again the study goes on.
func TestAFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("a server of its own takes its time")
	}
	t.Parallel()
	server := postgrestest.StartOnSmallDisk(t, 24)
	place := server.Database(t)
	store := testEngines["postgres"].open(t, place)
	id := begun(t, store)
	var err error
	postgrestest.Exec(t, place, "CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 4000)")
	// What a compiler prints, such that it cannot be compressed away.
	output := make([]byte, 64<<10)
	rand.NewChaCha8([32]byte{}).Read(output)
	recorder, last := store.Recorder(id), 0
	for ; err == nil; last++ {
		if last == 1000 {
			t.Fatal("the disk is not full")
		}
		trial := trial.Trial{
			Number: last,
			Point:  examplePoint(last),
			Outcome: objective.Outcome{Failure: &objective.Failure{
				Stage:  objective.Compile,
				Reason: "r",
				Detail: hex.EncodeToString(output),
			}},
		}
		if err = recorder.Started(trial); err == nil {
			err = recorder.Finished(trial)
		}
	}
	if !strings.Contains(err.Error(), "the disk of the server of postgres://administrator@") ||
		!strings.Contains(err.Error(), "make room; what was recorded is there") {
		t.Errorf("got %v", err)
	}
	past, err := store.Past(t.Context(), id)
	if err != nil || len(past.Trials) < last-1 || last < 10 {
		t.Fatalf("%d of %d trials, %v", len(past.Trials), last, err)
	}
	postgrestest.Exec(t, place, "DROP TABLE filler")
	if err := recordTrials(recorder, len(past.Trials), len(past.Trials)+5); err != nil {
		t.Error(err)
	}
}
