package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const administrator = "administrator"

var errNotInstalled = errors.New("no PostgreSQL is installed (initdb and postgres, in Debian's package postgresql)")

// Server is a running server. Its data are not flushed to the disk: a killed process loses
// nothing by that, only a machine that loses its power would.
type Server struct {
	folder, programs string
	port             int
	// as begins the line of a program that the server's user runs; empty for this process's own user.
	as []string
	// disk is the size of the disk that databases are on, in megabytes; 0 for the machine's own.
	disk    int
	command *exec.Cmd
	// watched is open as long as the server is to run.
	watched io.WriteCloser
}

// watcher runs the server until its standard input ends, which it does with the process that
// started it, and then removes the folder. A line before that end stops the server at once,
// as a crash would, and leaves the folder.
const watcher = `"$1/postgres" -D "$2/data" -F -c unix_socket_directories= -c listen_addresses=127.0.0.1 -c port="$3" &
if read -r line; then kill -QUIT $!; wait; else kill -INT $!; wait; cd / && rm -rf "$2"; fi`

// onSmallDisk runs a program where a disk of so many megabytes is mounted that nobody else sees.
const onSmallDisk = `mkdir -p disk && mount -t tmpfs -o "size=$1m" none "$PWD/disk" && chown --reference=. disk &&
shift && exec "$@"`

func start(disk int) (*Server, error) {
	programs, err := installed()
	if err != nil {
		return nil, err
	}
	s := &Server{programs: programs, disk: disk}
	if s.folder, err = os.MkdirTemp("", "pawl-postgres-"); err != nil {
		return nil, err
	}
	if err := errors.Join(s.leaveRoot(), s.initialize()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.folder))
	}
	for range 3 { // another process may take the port that was free
		if err = s.launch(); err == nil {
			return s, nil
		}
		s.port = 0
	}
	return nil, errors.Join(err, os.RemoveAll(s.folder))
}

// installed returns the folder of PostgreSQL's programs, which Debian keeps off the PATH.
func installed() (string, error) {
	if found, err := exec.LookPath("initdb"); err == nil {
		if found, err = filepath.EvalSymlinks(found); err == nil {
			return filepath.Dir(found), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.Join(errNotInstalled, err)
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// leaveRoot gives the folder to another user, who runs the server, where this process is root:
// as that PostgreSQL refuses to run.
func (s *Server) leaveRoot() error {
	if os.Geteuid() != 0 {
		return nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return fmt.Errorf("PostgreSQL does not run as root, and there is nobody else: %w", err)
	}
	s.as = []string{"setpriv", "--reuid", account.Uid, "--regid", account.Gid, "--clear-groups"}
	return exec.Command("chown", account.Uid+":"+account.Gid, s.folder).Run()
}

// initialize makes an empty cluster that wants a password from everybody.
func (s *Server) initialize() error {
	secret := filepath.Join(s.folder, "password")
	if err := os.WriteFile(secret, []byte(Password), 0o644); err != nil {
		return err
	}
	initdb := s.program(s.as, filepath.Join(s.programs, "initdb"), "-D", filepath.Join(s.folder, "data"),
		"-U", administrator, "--pwfile", secret, "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C",
		"--no-sync", "--no-instructions")
	if output, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, output)
	}
	return nil
}

// program runs by the words of as, out of reach of a signal to the group of the test.
func (s *Server) program(as []string, line ...string) *exec.Cmd {
	line = slices.Concat(as, line)
	command := exec.Command(line[0], line[1:]...)
	command.Dir = s.folder
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return command
}

// launch starts the server and waits until it answers.
func (s *Server) launch() error {
	if s.port == 0 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		s.port = listener.Addr().(*net.TCPAddr).Port
		if err := listener.Close(); err != nil {
			return err
		}
	}
	log, err := os.OpenFile(filepath.Join(s.folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	as := s.as
	if s.disk > 0 {
		as = slices.Concat([]string{"unshare", "--mount", "/bin/sh", "-c", onSmallDisk, "sh", strconv.Itoa(s.disk)}, as)
	}
	s.command = s.program(as, "/bin/sh", "-c", watcher, "sh", s.programs, s.folder, strconv.Itoa(s.port))
	s.command.Stdout, s.command.Stderr = log, log
	if s.watched, err = s.command.StdinPipe(); err != nil {
		return err
	}
	if err := s.command.Start(); err != nil {
		return err
	}
	if err := s.answers(); err != nil {
		text, _ := os.ReadFile(log.Name())
		return errors.Join(fmt.Errorf("PostgreSQL does not start: %w: %s", err, text), s.halt())
	}
	return nil
}

// answers waits for the server, which takes a third of a second on an idle machine.
func (s *Server) answers() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		connection, err := pgx.Connect(ctx, s.url("postgres"))
		if err == nil {
			return connection.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// halt stops the server without a farewell to its clients, as a crash would.
func (s *Server) halt() error {
	_, err := io.WriteString(s.watched, "stop\n")
	return errors.Join(err, s.command.Wait())
}

// Stop ends the server at once, as a crash would.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.halt(); err != nil {
		t.Fatal(err)
	}
}

// Restart starts the server again after Stop, at the same address with the same data.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.launch(); err != nil {
		t.Fatal(err)
	}
}

// remove stops the server and removes its files, also after Stop.
func (s *Server) remove() {
	s.watched.Close()
	s.command.Wait() // its files may be gone by now
	os.RemoveAll(s.folder)
}
