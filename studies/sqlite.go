package studies

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

type file struct {
	db   *sql.DB
	path string
	// opened is the file that was opened; nil before it has tables.
	opened *identity
	// watching is the connection that notices changes: see revision.
	watching struct {
		sync.Mutex
		conn *sql.Conn
	}
}

func (f *file) translate(statement string) string { return statement }
func (f *file) storable(text string) string       { return text }
func (f *file) explain(err error) error           { return err }

func (f *file) close() error {
	f.watching.Lock()
	defer f.watching.Unlock()
	if f.watching.conn != nil {
		f.watching.conn.Close() // it was only read
		f.watching.conn = nil
	}
	return f.db.Close()
}

// revision asks one connection, which never writes, whether another one has committed anything since it was opened.
func (f *file) revision(ctx context.Context) (string, error) {
	f.watching.Lock()
	defer f.watching.Unlock()
	if f.watching.conn == nil {
		conn, err := f.db.Conn(ctx)
		if err != nil {
			return "", err
		}
		f.watching.conn = conn
	}
	version := 0
	if err := f.watching.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
		f.watching.conn.Close() // another one is opened the next time
		f.watching.conn = nil
		return "", err
	}
	return fmt.Sprint("v", version), nil
}

// begin needs no lock: a process that has lost a file's lock has lost its life.
func (f *file) begin(ctx context.Context, _ int64) (transaction, error) {
	if err := f.opened.check(ctx, f); err != nil {
		return transaction{}, err
	}
	tx, err := f.db.BeginTx(ctx, nil)
	return transaction{tx, func() {}}, err
}

func (f *file) renew(context.Context, int64) error { return nil }

// ErrBusy says that another process is running the study.
var ErrBusy = errors.New("another pawl process is running this study")

// lock takes a byte of a file beside the database.
func (f *file) lock(study int64) (unlock func(), err error) {
	held, err := f.region(study, lockCommand)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return nil, fmt.Errorf("study %d: %w", study, ErrBusy)
	}
	if err != nil {
		return nil, fmt.Errorf("locking study %d: %w", study, err)
	}
	return func() { held.Close() }, nil
}

// region locks a byte of the lock file. Studies lock those of their numbers, which begin with 1.
func (f *file) region(start int64, command int) (held *os.File, err error) {
	held, err = os.OpenFile(f.path+".lock", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	region := unix.Flock_t{Type: unix.F_WRLCK, Whence: 0, Start: start, Len: 1}
	if err := unix.FcntlFlock(held.Fd(), command, &region); err != nil {
		held.Close()
		return nil, err
	}
	return held, nil
}

func (f *file) running(_ context.Context, study int64) (bool, error) { return f.locked(study, 1) }

// locked reports whether another process holds any of so many locks from a study's on, 0 for all.
func (f *file) locked(study, count int64) (bool, error) {
	lock, err := os.OpenFile(f.path+".lock", os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Close() // opened for reading only
	region := unix.Flock_t{Type: unix.F_WRLCK, Whence: 0, Start: study, Len: count}
	if err := unix.FcntlFlock(lock.Fd(), askCommand, &region); err != nil {
		return false, err
	}
	return region.Type != unix.F_UNLCK, nil
}

// creating keeps other processes from making tables meanwhile, and from setting the file aside.
func (f *file) creating(context.Context) (done func(), err error) {
	held, err := f.region(0, waitCommand)
	return func() { held.Close() }, err
}

// version is where SQLite has a place for it: in the head of the file.
func (f *file) version(ctx context.Context) (version int64, err error) {
	if err = f.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("opening %s: %w", f.path, err)
	}
	return version, nil
}

func (f *file) setVersion(ctx context.Context, tx session, version int64) error {
	_, err := tx.exec(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
	return err
}

func (f *file) mayCreate(context.Context) error { return nil }

// setAside copies the file and its log, which the transaction keeps others from writing to.
func (f *file) setAside(_ context.Context, _ session, version int64) (string, error) {
	place := freeName(f.path, fmt.Sprintf("schema-%d", version))
	return place, copyDatabase(f.path, place)
}

// anyRunning asks for a lock of any byte that a study has.
func (f *file) anyRunning(ctx context.Context) (bool, error) { return f.locked(1, 0) }

func (f *file) grant(context.Context, session, string) error { return nil }
