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
	folder, address, programs string
	credential                *syscall.Credential
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

// onSmallDisk runs the watcher where a small disk is mounted that nobody else sees; its size and the
// server's user follow the watcher's own arguments.
const onSmallDisk = `mkdir -p "$2/disk" && mount --make-rprivate / && mount -t tmpfs -o "size=$4m,uid=$5,gid=$6,mode=700" none "$2/disk" &&
exec setpriv --reuid "$5" --regid "$6" --clear-groups /bin/sh -c "$7" sh "$1" "$2" "$3"`

func start(disk int) (*Server, error) {
	programs, err := installed()
	if err != nil {
		return nil, err
	}
	s := &Server{programs: programs, disk: disk}
	if s.credential, err = unprivileged(); err != nil {
		return nil, err
	}
	if s.folder, err = os.MkdirTemp("", "pawl-postgres-"); err != nil {
		return nil, err
	}
	if err := s.initialize(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.folder))
	}
	for range 3 { // another process may take the port that was free
		if err = s.launch(); err == nil {
			return s, nil
		}
		s.address = ""
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

// unprivileged returns who runs the server where this process is root, as which PostgreSQL
// refuses to run; nil for this process's own user.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root, and there is nobody else: %w", err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// initialize makes an empty cluster that wants a password from everybody.
func (s *Server) initialize() error {
	if s.credential != nil {
		if err := os.Chown(s.folder, int(s.credential.Uid), int(s.credential.Gid)); err != nil {
			return err
		}
	}
	secret := filepath.Join(s.folder, "password")
	if err := os.WriteFile(secret, []byte(Password), 0o644); err != nil {
		return err
	}
	initdb := s.program(filepath.Join(s.programs, "initdb"), "-D", filepath.Join(s.folder, "data"), "-U", administrator,
		"--pwfile", secret, "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync",
		"--no-instructions")
	if output, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, output)
	}
	return nil
}

// program runs as the server's user, out of reach of a signal to the group of the test.
func (s *Server) program(name string, arguments ...string) *exec.Cmd {
	command := exec.Command(name, arguments...)
	command.Dir = s.folder
	command.SysProcAttr = &syscall.SysProcAttr{Credential: s.credential, Setpgid: true}
	return command
}

// launch starts the server and waits until it answers.
func (s *Server) launch() error {
	if s.address == "" {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		s.address = listener.Addr().String()
		if err := listener.Close(); err != nil {
			return err
		}
	}
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(s.folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	s.command = s.watch(port)
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

func (s *Server) watch(port string) *exec.Cmd {
	if s.disk == 0 {
		return s.program("/bin/sh", "-c", watcher, "sh", s.programs, s.folder, port)
	}
	command := exec.Command("/bin/sh", "-c", onSmallDisk, "sh", s.programs, s.folder, port,
		strconv.Itoa(s.disk), strconv.Itoa(int(s.credential.Uid)), strconv.Itoa(int(s.credential.Gid)), watcher)
	command.Dir = "/"
	command.SysProcAttr = ownMounts()
	return command
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
