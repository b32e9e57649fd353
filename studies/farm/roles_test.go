package farm

import (
	"context"
	"os"
	"strings"
	"testing"

	"pawl/internal/postgrestest"
)

// With the documented roles a worker takes jobs and writes answers, who asks gets them, and
// neither can do anything else.
func TestRoles(t *testing.T) {
	t.Parallel()
	roles, err := os.ReadFile("../../docs/farm/roles.sql")
	if err != nil {
		t.Fatal(err)
	}
	server := postgrestest.Start(t) // roles are the server's, not the database's
	owner := server.Database(t)
	if err := Init(t.Context(), Options{URL: owner, Version: "1"}); err != nil {
		t.Fatal(err)
	}
	postgrestest.Exec(t, owner,
		string(roles)+
			`; CREATE USER gpu PASSWORD 'gpu' IN ROLE pawl_worker;
			CREATE USER neighbor PASSWORD 'neighbor' IN ROLE pawl_worker;
			CREATE USER alice PASSWORD 'alice' IN ROLE pawl_asker; CREATE USER stranger PASSWORD 'stranger'`)
	postgrestest.Exec(t, owner, string(roles)) // and again after an upgrade
	as := func(user string) Options { return Options{URL: postgrestest.As(t, owner, user, user), Version: "1"} }
	asking, working := open(t, as("alice")), open(t, as("gpu"))
	s := begin(t, asking, "one")
	employ(t, working, "gpu", func(ctx context.Context, job Job) (Answer, error) {
		digest, err := working.Put(ctx, []byte("binary"))
		if err != nil {
			return Answer{}, err
		}
		if _, err := working.Get(ctx, digest); err != nil {
			return Answer{}, err
		}
		return missing(job.Point), nil
	})
	answer, err := s.Ask(t.Context(), "q", task("x"), nil)
	if err != nil || answer.Missing != "x" {
		t.Fatalf("%+v, %v", answer, err)
	}
	for _, f := range []*Farm{asking, working} { // both look after the dead
		if err := f.reap(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := asking.evict(t.Context(), storeLimit); err != nil {
		t.Error(err)
	}
	if _, err := asking.Status(t.Context()); err != nil {
		t.Error(err)
	}
	for _, statement := range []string{
		"INSERT INTO river_job (args, kind, max_attempts, queue) VALUES ('{}', 'pawl', 1, 'q')",
		"UPDATE river_job SET args = '{}'", "DELETE FROM river_job",
		"UPDATE tasks SET job = 1", "INSERT INTO tasks (study, name, job) VALUES ('x', 'x', 1)", "DELETE FROM tasks",
		"DELETE FROM blobs", "UPDATE chunks SET content = ''", "SELECT * FROM searches", "UPDATE farm SET version = '2'",
		"CREATE TABLE mine (x int)", "DROP TABLE tasks",
	} {
		if _, err := working.pool.Exec(t.Context(), statement); err == nil ||
			!strings.Contains(working.explain("x", err).Error(), "no right to") &&
				!strings.Contains(err.Error(), "must be owner") {
			t.Errorf("a worker may: %s (%v)", statement, err)
		}
	}
	neighbor := open(t, as("neighbor"))
	for _, statement := range []string{"DELETE FROM machines", "UPDATE machines SET host = 'x'"} {
		if done, err := neighbor.pool.Exec(t.Context(), statement); err != nil || done.RowsAffected() != 0 {
			t.Errorf("a worker may, of another: %s (%v, %v)", statement, done, err)
		}
	}
	if _, err := neighbor.pool.Exec(t.Context(),
		`INSERT INTO machines (id, host, identity, offers, owner) VALUES ('x', 'x', 'x', '{}', 'gpu')`); err == nil {
		t.Error("a worker may write a row as another")
	}
	for _, statement := range []string{"UPDATE farm SET version = '2'",
		"INSERT INTO machines (id, host, identity, offers) VALUES ('x', 'x', 'x', '{}')", "CREATE TABLE mine (x int)"} {
		if _, err := asking.pool.Exec(t.Context(), statement); err == nil {
			t.Errorf("who asks may: %s", statement)
		}
	}
	if _, err := Open(t.Context(), as("stranger")); err == nil ||
		!strings.Contains(err.Error(), "has no right to see the farm") {
		t.Errorf("a stranger: %v", err)
	}
	if err := Init(t.Context(),
		Options{URL: postgrestest.As(t, owner, "stranger", "stranger"), Name: "other", Version: "1"}); err == nil ||
		!strings.Contains(err.Error(), "has no right to do that") {
		t.Errorf("a stranger's farm: %v", err)
	}
}
