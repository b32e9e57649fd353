// Package studies answers what happened: it keeps studies, trials and raw
// samples in one SQLite file, and turns them into reports for people.
//
// The file is the only truth. A search writes to it through a Recorder, each
// trial durable before the next; a report is computed from it alone, so that
// it can be made again at any time. Several processes may use one file; a
// study is written by one process at a time, which holds its lock.
//
// Raw samples are kept and summaries are computed late.
package studies

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Store is an open database of studies. It is safe for concurrent use.
type Store struct {
	db   *sql.DB
	path string
	// SetAside is where a damaged database was moved to on opening, empty if
	// it was sound.
	SetAside string
}

// NewerVersionError says that a database was written by a newer pawl.
type NewerVersionError struct {
	Path        string
	Found, Know int
}

func (e *NewerVersionError) Error() string {
	return fmt.Sprintf("%s was written by a newer pawl (schema %d, this one knows %d): update pawl, or name another file", e.Path, e.Found, e.Know)
}

// Open opens the database and creates or migrates it as needed. A file that is
// no sound database is moved aside, never overwritten.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("opening the study database: %w", err)
	}
	store, err := open(ctx, path)
	if err == nil || !damaged(err) {
		return store, err
	}
	aside, moveErr := setAside(path)
	if moveErr != nil {
		return nil, fmt.Errorf("the study database %s is damaged (%w) and could not be set aside: %w", path, err, moveErr)
	}
	if store, err = open(ctx, path); err != nil {
		return nil, err
	}
	store.SetAside = aside
	return store, nil
}

// OpenExisting opens a database for reading what is there; a missing file is
// an error that wraps fs.ErrNotExist.
func OpenExisting(ctx context.Context, path string) (*Store, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("no study database: %w", err)
	}
	return Open(ctx, path)
}

func open(ctx context.Context, path string) (*Store, error) {
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	s := &Store{db: db, path: path}
	if err := patiently(ctx, s.check); err != nil {
		db.Close()
		return nil, err
	}
	if err := s.migrate(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return s, nil
}

// patience is how long a process waits for others that use the same file.
const patience = 10 * time.Second

// patiently tries again while the database is locked. SQLite waits by itself
// everywhere but where it fears a deadlock: of several processes that turn a new
// file to write-ahead logging at the same time, all but one are refused at once.
func patiently(ctx context.Context, try func(context.Context) error) error {
	for deadline := time.Now().Add(patience); ; {
		err := try(ctx)
		var coded *sqlite.Error
		locked := errors.As(err, &coded) && coded.Code()&0xff == sqlite3.SQLITE_BUSY
		if !locked || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// dsn asks for a write-ahead log, waiting instead of failing when another
// process writes, and transactions that take the write lock at once: deferred
// ones fail half-way under several writers.
func dsn(path string) string {
	escaped := (&url.URL{Path: path}).EscapedPath()
	return fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=foreign_keys(1)&_txlock=immediate",
		escaped, patience.Milliseconds())
}

// check makes sure that the file is a sound database.
func (s *Store) check(ctx context.Context) error {
	var result string
	if err := s.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result); err != nil {
		return fmt.Errorf("opening %s: %w", s.path, err)
	}
	if result != "ok" {
		return fmt.Errorf("opening %s: %w: %s", s.path, errDamaged, result)
	}
	return nil
}

var errDamaged = errors.New("the database is damaged")

// damaged reports whether an error means that the file's content is broken, as
// opposed to a missing permission or a full disk.
func damaged(err error) bool {
	if errors.Is(err, errDamaged) {
		return true
	}
	var coded *sqlite.Error
	if !errors.As(err, &coded) {
		return false
	}
	primary := coded.Code() & 0xff
	return primary == sqlite3.SQLITE_CORRUPT || primary == sqlite3.SQLITE_NOTADB
}

// setAside renames a damaged database and its companions.
func setAside(path string) (string, error) {
	stamp := time.Now().UTC().Format("20060102-150405")
	aside := fmt.Sprintf("%s.damaged-%s", path, stamp)
	for i := 1; ; i++ {
		if _, err := os.Stat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
		aside = fmt.Sprintf("%s.damaged-%s-%d", path, stamp, i)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}

// Path returns the database's file.
func (s *Store) Path() string { return s.path }

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// transact runs a function in one transaction.
func (s *Store) transact(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	return tx.Commit()
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// placeholders returns n question marks for a statement.
func placeholders(n int) string {
	return strings.TrimSuffix(strings.Repeat("?, ", n), ", ")
}
