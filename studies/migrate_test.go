package studies

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pawl/internal/postgrestest"
)

// oldDigests are those that the pawl which recorded testdata/schema-11.sql gave the content of its two studies.
var oldDigests = []string{"9e2f922724bdc72c3f6b0394ddbed063", "aa5c8edd3e68c9b33d275ff7eb875fa8"}

// recordedBefore makes a database of schema 11 as pawl has made it then: testdata/schema-11.sql is a dump of it.
func recordedBefore(t *testing.T, engine string) (place string) {
	t.Helper()
	dump, err := os.ReadFile("testdata/schema-11.sql")
	if err != nil {
		t.Fatal(err)
	}
	e := testEngines[engine]
	place = e.place(t)
	if engine == "sqlite" {
		execute(t, place, "PRAGMA journal_mode = WAL", string(dump), "PRAGMA user_version = 11")
		return place
	}
	tables, rows, _ := strings.Cut(string(dump), "INSERT INTO ")
	postgrestest.Exec(t, place, (&postgres{}).translate(tables))
	postgrestest.Exec(t, place, "INSERT INTO "+rows)
	postgrestest.Exec(t, place, "SELECT setval(pg_get_serial_sequence('studies', 'id'), 2); CREATE TABLE "+versionTable+
		" (version_id BIGINT NOT NULL); INSERT INTO "+versionTable+" VALUES (11)")
	return place
}

// A database of an earlier version has all of its studies afterwards, and as it was it is beside it.
func TestAnEarlierVersionIsMigrated(t *testing.T) {
	for engine, e := range testEngines {
		for how, open := range map[string]func(context.Context, string) (*Store, error){"tune": Open, "read": OpenExisting} {
			t.Run(engine+" "+how, func(t *testing.T) {
				place := recordedBefore(t, engine)
				store, err := open(t.Context(), place)
				if err != nil {
					t.Fatal(err)
				}
				if len(store.Notices) != 1 || !strings.Contains(store.Notices[0], "earlier version of pawl (schema 11, now 12)") {
					t.Errorf("%q", store.Notices)
				}
				all, err := store.List(t.Context())
				if err != nil || len(all) != 2 || all[0].Note != "kept for the tests" || all[1].Rounds < 6 {
					t.Errorf("%+v, %v", all, err)
				}
				if damage, err := store.Verify(t.Context()); err != nil || len(damage) > 0 {
					t.Errorf("%v, %v", damage, err)
				}
				for i, want := range oldDigests {
					if rows, err := readContent(t.Context(), store.db, int64(i+1)); err != nil || rows.digest() != want {
						t.Errorf("study %d: %s, want %s, %v", i+1, rows.digest(), want, err)
					}
				}
				// It goes on as any other.
				if id, err := store.Create(t.Context(), exampleStudy()); err != nil || id != 3 {
					t.Errorf("study %d, %v", id, err)
				}
				aside := asideOf(t, store)
				store.Close()
				if again := e.open(t, place); len(again.Notices) > 0 {
					t.Errorf("again: %q", again.Notices)
				}
				if aside != "" {
					isOld(t, place, aside)
				}
			})
		}
	}
}

// asideOf is the file that a notice names; of a server it looks into the schema that it names.
func asideOf(t *testing.T, store *Store) (file string) {
	t.Helper()
	_, aside, _ := strings.Cut(store.Notices[0], "as it was it is at ")
	schema, onServer := strings.CutSuffix(aside, " of the same database")
	if !onServer {
		return aside
	}
	var count int
	if err := store.db.queryRow(t.Context(), []any{&count},
		"SELECT COUNT(*) FROM "+strings.TrimPrefix(schema, "schema ")+".trials"); err != nil || count != 7 {
		t.Errorf("%d trials are set aside in %s: %v", count, schema, err)
	}
	return ""
}

// isOld checks that a copy is of the old version, with all studies.
func isOld(t *testing.T, place, aside string) {
	t.Helper()
	if filepath.Dir(aside) != filepath.Dir(place) || !strings.Contains(aside, ".schema-11-") {
		t.Errorf("set aside at %s", aside)
	}
	store, err := OpenExisting(t.Context(), aside) // as any database of that version
	if err != nil || len(store.Notices) != 1 {
		t.Fatalf("%+v, %v", store, err)
	}
	defer store.Close()
	if all, err := store.List(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("%d studies, %v", len(all), err)
	}
}

// Every table is counted as it would have been if it had been written by this version.
func TestMigratedSummariesAreThoseOfANewDatabase(t *testing.T) {
	for engine, e := range testEngines {
		t.Run(engine, func(t *testing.T) {
			place := e.place(t)
			store := e.open(t, place)
			record(t, store)
			want, err := readSummaries(t.Context(), store.db, 0)
			if err != nil {
				t.Fatal(err)
			}
			store.Close()
			e.change(t, place, "DROP TABLE summaries")
			e.setVersion(t, place, 11)
			store = e.open(t, place)
			got, err := readSummaries(t.Context(), store.db, 0)
			if err != nil || !reflect.DeepEqual(got, want) || len(got) != 2 {
				t.Errorf("%+v\nwant %+v, %v", got, want, err)
			}
			if engine == "sqlite" {
				tables, err := store.db.tables(t.Context(), "SELECT sql FROM sqlite_schema WHERE name = 'summaries'")
				if err != nil || len(tables) != 1 || !strings.Contains(withoutComments(schema), tables[0]) {
					t.Errorf("%q, %v", tables, err)
				}
			}
		})
	}
}

func withoutComments(statements string) string {
	var lines []string
	for line := range strings.Lines(statements) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// Nothing is changed below a process that runs a study, and a reader's copy of a file that cannot be written is no
// reason to set one aside.
func TestAMigrationWaitsForARunningStudy(t *testing.T) {
	for engine, e := range testEngines {
		t.Run(engine, func(t *testing.T) {
			place := e.place(t)
			store := e.open(t, place)
			id, err := store.Create(t.Context(), exampleStudy())
			if err != nil {
				t.Fatal(err)
			}
			store.Close()
			cmd, _ := startRole(t, "PAWL_TEST_HOLDER", place, 1)
			e.change(t, place, "DROP TABLE summaries")
			e.setVersion(t, place, 11)
			if _, err := Open(t.Context(), place); !errors.Is(err, ErrBusy) {
				t.Errorf("got %v", err)
			}
			cmd.Process.Kill()
			cmd.Wait()                // it was killed
			if engine == "postgres" { // a server needs a moment to notice an end
				for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
					if store, err = Open(t.Context(), place); err == nil {
						store.Close()
						break
					}
				}
			}
			store = e.open(t, place)
			if damage, err := store.Verify(t.Context()); err != nil || len(damage) > 0 {
				t.Errorf("study %d: %v, %v", id, damage, err)
			}
		})
	}
}

// Rights on the tables that were there hold for the new one.
func TestAMigrationKeepsRights(t *testing.T) {
	place := recordedBefore(t, "postgres")
	postgrestest.Exec(t, place, "CREATE ROLE watcher LOGIN PASSWORD 'w'; "+
		"GRANT SELECT ON ALL TABLES IN SCHEMA public TO watcher")
	t.Cleanup(func() { postgrestest.Exec(t, place, "DROP OWNED BY watcher; DROP ROLE watcher") })
	store, err := Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	store.Close()
	reader, err := OpenExisting(t.Context(), postgrestest.As(t, place, "watcher", "w"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if all, err := reader.List(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("%d studies, %v", len(all), err)
	}
	if facts, err := reader.Facts(t.Context(), 0); err != nil || len(facts) != 2 {
		t.Errorf("%d summaries, %v", len(facts), err)
	}
}
