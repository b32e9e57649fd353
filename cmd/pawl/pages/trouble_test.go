package pages

import (
	"context"
	"database/sql"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/internal/postgrestest"
	"pawl/internal/thorough"
	"pawl/studies"
)

// closed returns the path of a database with one study that nobody has open.
func closed(t *testing.T) string {
	t.Helper()
	path, store := database(t)
	add(t, store, head("scale", "small", "CPU"), 12, true)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(context.Background(), statement); err != nil {
		t.Fatal(err)
	}
}

// says asks for a page that must answer with a status and a sentence, and no more.
func says(t *testing.T, s *Server, address string, status int, parts ...string) {
	t.Helper()
	code, body, _ := get(t, s, address)
	if code != status {
		t.Errorf("%s: %d, want %d", address, code, status)
	}
	wants(t, body, parts...)
	for _, never := range []string{"goroutine", ".go:", "panic"} {
		if strings.Contains(body, never) {
			t.Errorf("%s has %s:\n%s", address, never, body)
		}
	}
}

func TestNoDatabaseYet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "studies.db")
	s := serving(t, path)
	says(t, s, "/", http.StatusNotFound, "There is no study database", "pawl tune makes one")
	if err := os.Rename(closed(t), path); err != nil {
		t.Fatal(err)
	}
	says(t, s, "/", http.StatusOK, "scale, small")
}

func TestTheDatabaseGoesWhileServing(t *testing.T) {
	path := closed(t)
	s := serving(t, path)
	says(t, s, "/studies/1", http.StatusOK, "scale, small")
	if err := os.Rename(path, path+".elsewhere"); err != nil {
		t.Fatal(err)
	}
	says(t, s, "/studies/1", http.StatusNotFound, "There is no study database")
	says(t, s, "/", http.StatusNotFound, "There is no study database")
	// Another one takes its place.
	fresh := closed(t)
	if err := os.Rename(fresh, path); err != nil {
		t.Fatal(err)
	}
	says(t, s, "/studies/1", http.StatusOK, "scale, small")
}

func TestADatabaseThatIsNone(t *testing.T) {
	path := closed(t)
	s := serving(t, path)
	says(t, s, "/", http.StatusOK, "scale, small")
	// Another file takes its place, as an editor or a copy would do it.
	if err := os.WriteFile(path+".new", []byte(strings.Repeat("no database ", 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	says(t, s, "/", http.StatusInternalServerError, "damaged", "left as it is")
	says(t, s, "/studies/1/trials", http.StatusInternalServerError, "damaged")
}

func TestADamagedRow(t *testing.T) {
	path := closed(t)
	execute(t, path, "UPDATE trials SET reason = 'changed by hand' WHERE number = 3")
	s := serving(t, path)
	says(t, s, "/", http.StatusOK, "Study 1 in"[1:], "not what was recorded")
	says(t, s, "/studies/1", http.StatusInternalServerError, "not what was recorded")
}

// Another process keeps the whole file to itself, and lets go of it.
func TestALockedDatabase(t *testing.T) {
	thorough.Only(t, "it waits as long as pages wait")
	t.Parallel()
	path := closed(t)
	s := serving(t, path)
	db := locked(t, path)
	says(t, s, "/", http.StatusServiceUnavailable, "The database is locked", "tries again in a few seconds")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	says(t, s, "/", http.StatusOK, "scale, small")
}

// The page about a lock, for somebody who does not wait.
func TestALockIsSaid(t *testing.T) {
	path := closed(t)
	defer locked(t, path).Close()
	impatient, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer impatient.Close()
	var n int
	p := (&Server{}).failure(impatient.QueryRowContext(t.Context(), "SELECT count(*) FROM trials").Scan(&n))
	if text, ok := p.Data.(string); p.Status != http.StatusServiceUnavailable || p.Refresh == 0 || !ok ||
		!strings.Contains(text, "tries again in a few seconds") {
		t.Errorf("%+v", p)
	}
}

// locked takes a database for itself.
func locked(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(),
		"PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM trials"); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestADatabaseOfAnotherVersion(t *testing.T) {
	path := closed(t)
	execute(t, path, "PRAGMA user_version = 9999")
	s := serving(t, path)
	says(t, s, "/", http.StatusInternalServerError, "a newer version of pawl", "use that pawl")
}

func TestAStudyIsDeletedWhileShown(t *testing.T) {
	path := closed(t)
	s := serving(t, path)
	says(t, s, "/studies/1", http.StatusOK, "scale, small")
	execute(t, path, "DELETE FROM trials; DELETE FROM rounds; DELETE FROM studies; DELETE FROM summaries")
	says(t, s, "/studies/1", http.StatusNotFound, "There is no such study", "deleted")
	says(t, s, "/studies/1/trials/1", http.StatusNotFound, "There is no such study")
	says(t, s, "/", http.StatusOK, "No studies yet")
}

func TestBrokenGateFiles(t *testing.T) {
	path := closed(t)
	s := serving(t, path)
	folder := filepath.Dir(path)
	for name, content := range map[string]string{
		"baseline.json":       "{\"format\":",
		"ratchet_report.json": "[1]",
		"history.jsonl":       "no JSON\n{}\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	says(t, s, "/gate", http.StatusOK, "baseline.json", "is no report of a gate", "1 line of the history")
}

// Studies on a server are shown, and a server that is gone for a while is a sentence.
func TestADatabaseOnAServer(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.Start(t)
	place := postgres.Database(t)
	s := serving(t, place)
	says(t, s, "/", http.StatusNotFound, "There is no study database at postgres://administrator@127.0.0.1:")
	store, err := studies.Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := store.Create(t.Context(), head("shared", "small", "CPU")); err != nil {
		t.Fatal(err)
	}
	says(t, s, "/", http.StatusOK, "shared", "postgres://administrator@127.0.0.1:")
	if _, body, _ := get(t, s, "/"); strings.Contains(body, postgrestest.Password) {
		t.Error("the page has the password")
	}
	postgres.Stop(t)
	says(t, s, "/", http.StatusInternalServerError, "cannot be reached")
	postgres.Restart(t)
	says(t, s, "/studies/1", http.StatusOK, "shared")
}
