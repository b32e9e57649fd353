package postgrestest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func count(t *testing.T, databaseURL string) (rows int) {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(t.Context())
	if err := connection.QueryRow(t.Context(), "SELECT count(*) FROM thing").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestAStoppedServerKeepsWhatWasCommitted(t *testing.T) {
	server := Start(t)
	first, second := server.Database(t), server.Database(t)
	Exec(t, first, "CREATE TABLE thing (x int); INSERT INTO thing VALUES (1)")
	Exec(t, second, "CREATE TABLE thing (x int)")
	server.Stop(t)
	if _, err := pgx.Connect(t.Context(), first); err == nil {
		t.Error("a stopped server answers")
	}
	server.Restart(t)
	if a, b := count(t, first), count(t, second); a != 1 || b != 0 {
		t.Errorf("%d and %d rows after a restart", a, b)
	}
	if _, err := pgx.Connect(t.Context(), As(t, first, administrator, "wrong")); err == nil {
		t.Error("a wrong password is right")
	}
}

// A test binary that is killed leaves neither a server nor files.
func TestNothingOutlivesTheTests(t *testing.T) {
	if folder := os.Getenv("PAWL_TEST_POSTGRES_HOLDER"); folder != "" {
		Database(t)
		if err := os.WriteFile(filepath.Join(folder, "ready"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
	}
	Database(t) // skips where nothing is installed
	folder := t.TempDir()
	for path := folder; path != "/" && path != os.TempDir(); path = filepath.Dir(path) {
		if err := os.Chmod(path, 0o777); err != nil { // as /tmp is, for the server's user
			t.Fatal(err)
		}
	}
	holder := exec.Command(os.Args[0], "-test.run", "^TestNothingOutlivesTheTests$")
	holder.Env = append(os.Environ(), "PAWL_TEST_POSTGRES_HOLDER="+folder, "TMPDIR="+folder)
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { _, err := os.Stat(filepath.Join(folder, "ready")); return err == nil })
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	holder.Wait() // it was killed
	await(t, func() bool {
		left, err := filepath.Glob(filepath.Join(folder, "pawl-postgres-*"))
		return err == nil && len(left) == 0
	})
	processes, err := exec.Command("ps", "-eo", "args").Output()
	if err != nil || strings.Contains(string(processes), folder) {
		t.Errorf("a process is left: %v\n%s", err, processes)
	}
}

func await(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not happen")
		}
	}
}
