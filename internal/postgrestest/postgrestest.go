// Package postgrestest gives tests a real PostgreSQL server.
//
// A test asks for a Database and gets the URL of a new, empty one. The first test of a
// binary that asks starts a server, which all tests of the binary share; a test that stops
// or restarts its server starts its own. No TestMain is needed: a server watches the process
// that started it, and when that has ended, however it did, stops and removes its files.
package postgrestest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Password is that of the administrator in every URL. A test can look for it in what must not
// show it.
const Password = "the-tests-password"

// shared is the server of this test binary.
var shared = sync.OnceValues(func() (*Server, error) { return start(0) })

// Database returns the URL of a new, empty database, whose administrator it names. Without an
// installed PostgreSQL the test is skipped, or fails where PAWL_REQUIRE_POSTGRES is set.
func Database(t testing.TB) string {
	t.Helper()
	server, err := shared()
	require(t, err)
	return server.Database(t)
}

// Installed reports whether there is a PostgreSQL, for scripts that have no test to skip. It is an
// error that there is none where PAWL_REQUIRE_POSTGRES is set.
func Installed() (bool, error) {
	_, err := installed()
	if err != nil && os.Getenv("PAWL_REQUIRE_POSTGRES") == "" {
		return false, nil
	}
	return err == nil, err
}

// Start starts a server for one test, which can be stopped and started again.
func Start(t testing.TB) *Server {
	t.Helper()
	server, err := start(0)
	require(t, err)
	t.Cleanup(server.remove)
	return server
}

// StartOnSmallDisk starts a server whose databases are on a disk of some megabytes, of which an
// empty one takes eight. Where it cannot be mounted, by a user other than root, in a container or on
// another system than Linux, the test is skipped.
func StartOnSmallDisk(t testing.TB, megabytes int) *Server {
	t.Helper()
	mount := exec.Command("unshare", "--mount", "mount", "-t", "tmpfs", "-o", "size=1m", "none", t.TempDir())
	if output, err := mount.CombinedOutput(); err != nil {
		t.Skipf("no small disk can be mounted: %v: %s", err, output)
	}
	server, err := start(megabytes)
	require(t, err)
	t.Cleanup(server.remove)
	Exec(t, server.url("postgres"), "CREATE TABLESPACE small LOCATION '"+server.folder+"/disk'")
	return server
}

func require(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errNotInstalled) && os.Getenv("PAWL_REQUIRE_POSTGRES") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Database returns the URL of a new, empty database of the server. It goes with the server.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := "test_" + rand.Text()
	where := ""
	if s.disk > 0 {
		where = " TABLESPACE small"
	}
	Exec(t, s.url("postgres"), `CREATE DATABASE "`+name+`"`+where)
	return s.url(name)
}

func (s *Server) url(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(administrator, Password),
		Host:     fmt.Sprintf("127.0.0.1:%d", s.port),
		Path:     database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Exec runs statements on a connection of their own.
func Exec(t testing.TB, databaseURL, statements string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // cleanups may use it too
	connection, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(ctx)
	if _, err := connection.Exec(ctx, statements); err != nil {
		t.Fatal(err)
	}
}

// As returns the URL with another user and password.
func As(t testing.TB, databaseURL, user, password string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(user, password)
	return u.String()
}
