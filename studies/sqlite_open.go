package studies

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// openFile opens a file and creates it as needed. One that is no sound database
// is moved aside, never overwritten.
func openFile(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("opening the study database: %w", err)
	}
	if err := regular(path); err != nil {
		return nil, err
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
	store, err := openLogged(ctx, path)
	if err != nil {
		return nil, err
	}
	store.SetAside, store.Notices = aside, append(notices, store.Notices...)
	return store, nil
}

// openLogged opens a file for reading and writing: SQLite will move what it can use of the log into the file, and
// remove the log. A log of which it would drop something that was recorded is set aside before, with the file.
func openLogged(ctx context.Context, path string) (*Store, error) {
	lost, aside, err := keepLog(path)
	if err != nil {
		return nil, err
	}
	store, err := open(ctx, path, false)
	if err != nil || lost == "" {
		return store, err
	}
	// What is recorded next must not stand before the rest of the old log.
	if _, err := store.db.exec(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil && !Locked(err) {
		store.Close()
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	store.Notices = append([]string{lost + "; as it was, the database is at " + aside}, store.Notices...)
	return store, nil
}

func openExistingFile(ctx context.Context, path string) (*Store, error) {
	_, err := os.Stat(path)
	if err != nil && !exists(path+"-wal") {
		return nil, fmt.Errorf("no study database: %w", err)
	}
	if err := regular(path); err != nil {
		return nil, err
	}
	if err == nil && staysEmpty(ctx, path) {
		return nil, unusable(path, fmt.Errorf("%w: it is empty", errDamaged))
	}
	if size(path) > 0 && !writable(path) {
		return openCopy(ctx, path)
	}
	if err := patiently(ctx, func(ctx context.Context) error { return inspect(ctx, path) }); err != nil {
		return nil, unusable(path, err)
	}
	return openLogged(ctx, path)
}

// staysEmpty reports whether a database has no content, and not because another
// process is creating it just now, which on a busy machine takes a while.
func staysEmpty(ctx context.Context, path string) bool {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if size(path) > 0 || size(path+"-wal") > 0 || ctx.Err() != nil {
			return false
		}
		info, err := os.Stat(path)
		if err == nil && time.Since(info.ModTime()) > patience || time.Now().After(deadline) {
			return true
		}
	}
}

// unusable says of a damaged file that it was left alone; other errors stay.
func unusable(path string, err error) error {
	if !damaged(err) {
		return err
	}
	detail := strings.TrimPrefix(err.Error(), errDamaged.Error()+": ")
	return &DamagedError{
		Path:   path,
		Detail: detail,
		Advice: "it was left as it is; pawl tune sets it aside and begins a new one",
	}
}

// open opens a file, which may be a copy of one that cannot be written.
func open(ctx context.Context, path string, isCopy bool) (*Store, error) {
	db, err := sql.Open("sqlite", dsn(path, "_pragma=journal_mode(WAL)"))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	e := &file{db: db, path: path}
	s := &Store{db: session{db, e}, engine: e, path: path}
	if err := patiently(ctx, func(ctx context.Context) error { return s.create(ctx, isCopy) }); err != nil {
		db.Close()
		return nil, err
	}
	e.opened = identify(path)
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
	return fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)&_pragma=synchronous(NORMAL)"+
		"&_pragma=foreign_keys(1)&_pragma=cell_size_check(1)&_txlock=immediate&%s",
		escaped, patience.Milliseconds(), more)
}

// tables returns the names that a statement asks for.
func (s session) tables(ctx context.Context, statement string) (names []string, err error) {
	err = s.query(ctx, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	}, statement)
	return names, err
}
