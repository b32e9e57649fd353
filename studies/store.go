// Package studies answers what happened: it keeps studies, trials and raw
// samples in one SQLite file.
//
// The file is the only truth. A search writes to it through a Recorder, each
// trial durable before the next; a report is computed from it alone, so that
// it can be made again at any time. Several processes may use one file; a
// study is written by one process at a time, which holds its lock. Raw samples are
// kept and summaries are computed late.
//
//  1. Open inspects the file and its log, sets a damaged one aside, migrates an older
//     one and compares every row with its digest.
//  2. A row is a list of columns: one list says where each value is, for writing and
//     for reading.
//  3. Options are what a study was begun with, as one JSON column. What a resumed study
//     checks and the command that reproduces it derive from them.
package studies

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// Store is an open database of studies. It is safe for concurrent use.
type Store struct {
	db   *sql.DB
	path string
	// SetAside is where a damaged database was moved to on opening, empty if
	// it was sound.
	SetAside string
	// Notices are what a user should hear: what was damaged, and what that means.
	Notices []string
	// damage holds, by study, the rows that are not what was recorded.
	damage map[int64][]string
	// discard removes the copy that stands for a file that cannot be written.
	discard func() error
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
	if exists(path) && !writable(path) {
		return nil, fmt.Errorf("opening the study database: %s cannot be written; name another folder with --out", path)
	}
	aside, notices := "", []string(nil)
	err := patiently(ctx, func(ctx context.Context) error { return inspect(ctx, path) })
	if damaged(err) {
		detail := err
		if aside, err = setAsideDamaged(ctx, path); err != nil {
			return nil, fmt.Errorf("the study database %s is damaged (%w) and could not be set aside: %w", path, detail, err)
		}
		if aside != "" {
			notices = append(notices, fmt.Sprintf("the study database was damaged and is now at %s; a new one was begun", aside))
		}
	}
	if err != nil {
		return nil, err
	}
	problem, err := logProblem(path)
	if err != nil {
		return nil, err
	}
	if problem != "" {
		kept := freeName(path + "-wal")
		if err := copyFile(path+"-wal", kept); err != nil {
			return nil, fmt.Errorf("keeping the damaged log of %s: %w", path, err)
		}
		notices = append(notices, fmt.Sprintf("the log %s-wal: %s; a copy of it is at %s", path, problem, kept))
	}
	store, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	store.SetAside, store.Notices = aside, append(notices, store.Notices...)
	return store, nil
}

// OpenExisting opens a database for reading what is there; a missing file is
// an error that wraps fs.ErrNotExist, and a damaged one a *DamagedError: it stays
// as it is. A database that cannot be written can be read.
func OpenExisting(ctx context.Context, path string) (*Store, error) {
	_, err := os.Stat(path)
	if err != nil && !exists(path+"-wal") {
		return nil, fmt.Errorf("no study database: %w", err)
	}
	if err == nil && staysEmpty(ctx, path) {
		return nil, unusable(path, fmt.Errorf("%w: it is empty", errDamaged))
	}
	problem, err := logProblem(path)
	if err != nil {
		return nil, err
	}
	if size(path) > 0 && (!writable(path) || problem != "") {
		store, err := openCopy(ctx, path)
		if err == nil && problem != "" {
			store.Notices = append(store.Notices, fmt.Sprintf("the log %s-wal: %s", path, problem))
		}
		return store, err
	}
	if err := patiently(ctx, func(ctx context.Context) error { return inspect(ctx, path) }); err != nil {
		return nil, unusable(path, err)
	}
	return open(ctx, path)
}

// staysEmpty reports whether a database has no content, and not because another
// process is creating it just now.
func staysEmpty(ctx context.Context, path string) bool {
	for range 50 {
		if size(path) > 0 || size(path+"-wal") > 0 || ctx.Err() != nil {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
	return true
}

// unusable says of a damaged file that it was left alone; other errors stay.
func unusable(path string, err error) error {
	if !damaged(err) {
		return err
	}
	detail := strings.TrimPrefix(err.Error(), errDamaged.Error()+": ")
	return &DamagedError{Path: path, Detail: detail, Advice: "it was left as it is; pawl tune sets it aside and begins a new one"}
}

// open opens a database that inspect found sound.
func open(ctx context.Context, path string) (*Store, error) {
	db, err := sql.Open("sqlite", dsn(path, "_pragma=journal_mode(WAL)"))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	s := &Store{db: db, path: path}
	for _, step := range []func(context.Context) error{s.migrate, s.examine} {
		if err := patiently(ctx, step); err != nil {
			db.Close()
			return nil, err
		}
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
		locked := hasCode(err, sqlite3.SQLITE_BUSY)
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

// dsn asks for waiting instead of failing when another process writes, and for
// transactions that take the write lock at once: deferred ones fail half-way under
// several writers.
func dsn(path, more string) string {
	escaped := (&url.URL{Path: path}).EscapedPath()
	return fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)&_pragma=synchronous(NORMAL)&_pragma=foreign_keys(1)&_txlock=immediate&%s",
		escaped, patience.Milliseconds(), more)
}

// Path returns the database's file.
func (s *Store) Path() string { return s.path }

// Writable returns an error where what is recorded would be lost, because the file could
// only be read.
func (s *Store) Writable() error {
	if s.discard != nil {
		return fmt.Errorf("%s cannot be written, or its log is damaged: nothing can be recorded there", s.path)
	}
	return nil
}

// Close closes the database.
func (s *Store) Close() error {
	err := s.db.Close()
	if s.discard != nil {
		err = errors.Join(err, s.discard())
	}
	return err
}

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
