// Package studies answers what happened: it keeps studies, trials and raw
// samples in one database, which is a SQLite file or lives on a PostgreSQL server.
//
// The database is the only truth. A search writes to it through a Recorder, each
// trial durable before the next; a report is computed from it alone, so that
// it can be made again at any time. Several processes may use one database; a
// study is written by one process at a time, which holds its lock. Raw samples are
// kept and summaries are computed late.
//
//  1. Open finds out whose the database is and makes the tables of a new one; those of an earlier version it turns
//     into its own, after a copy was set aside. A damaged file is set aside. What opening takes does not depend on how
//     many studies there are.
//  2. Statements are written once, as SQLite has them; an engine translates them, and
//     knows what else its database does differently.
//  3. A row is a list of columns: one list says where each value is, for writing and
//     for reading.
//  4. Each row is compared with its digest when it is read, and what is read of a study with its tally: see summary.go.
//  5. Options are what a study was begun with, as one JSON column. What a resumed study
//     checks and the command that reproduces it derive from them.
package studies

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Store is an open database of studies. It is safe for concurrent use.
type Store struct {
	db     session
	engine engine
	// path is the file, or the server's URL without the password.
	path string
	// Place is how the command that has opened it finds it again.
	Place Place
	// SetAside is where a damaged database was moved to on opening, empty if it was sound.
	SetAside string
	// Notices are what a user should hear: what was damaged, and what that means.
	Notices []string
	listed  listed
	// discard removes the copy that stands for a file that cannot be written.
	discard func() error
	// reconnecting is how long a server that is gone is waited for; a file is never gone.
	reconnecting time.Duration
}

// Hear sets who hears that the database's server is silent, and that it answers again.
func (s *Store) Hear(hear func(string)) {
	if server, ok := s.engine.(*postgres); ok {
		server.network.Hear(hear)
	}
}

// engine is what one kind of database does differently from the other.
type engine interface {
	creator
	dialect
	studyWriter
	// revision is another one when anything in the database has changed, empty where that is not known.
	revision(ctx context.Context) (string, error)
	close() error
}

// dialect is how a database speaks.
type dialect interface {
	// translate turns a statement in SQLite's words into the engine's own.
	translate(statement string) string
	// storable turns a text into one that the engine can hold.
	storable(text string) string
	// explain says in a sentence what an error means; most errors stay as they are.
	explain(err error) error
}

// studyWriter is how one process at a time writes to a study.
type studyWriter interface {
	// lock makes this process the only one that runs a study, and running asks whether one does.
	lock(study int64) (unlock func(), err error)
	running(ctx context.Context, study int64) (bool, error)
	// begin begins a transaction that writes to a study, 0 for none in particular. If
	// this process holds the study's lock, it can only be written as long as it does.
	begin(ctx context.Context, study int64) (transaction, error)
	// renew waits for a lost connection to come back, and takes the study's lock again.
	renew(ctx context.Context, study int64) error
}

type transaction struct {
	*sql.Tx
	end func()
}

// OtherVersionError says that a database was written by another version of pawl.
type OtherVersionError struct {
	Path        string
	Found, Know int
}

func (e *OtherVersionError) Error() string {
	if e.Found > e.Know {
		return fmt.Sprintf("%s was written by a newer version of pawl (schema %d, this one knows %d): use that pawl, or "+
			"name another database", e.Path, e.Found, e.Know)
	}
	return fmt.Sprintf("%s was written by a version of pawl that is too old (schema %d, this one knows %d and what came "+
		"shortly before): use that pawl, or name another database", e.Path, e.Found, e.Know)
}

// Open opens the database at a place, a file or the URL of a PostgreSQL database, and
// creates it as needed. A file that is no sound database is moved aside, never
// overwritten; on a server, tables that are not pawl's are refused.
func Open(ctx context.Context, place string) (*Store, error) {
	return openPlace(ctx, place, true)
}

// openPlace opens what a place is: a database on a server, or a file.
func openPlace(ctx context.Context, place string, create bool) (*Store, error) {
	server, err := OnServer(place)
	switch {
	case err != nil:
		return nil, err
	case server:
		return openPostgres(ctx, place, create)
	case create:
		return openFile(ctx, place)
	}
	return openExistingFile(ctx, place)
}

// OpenExisting opens a database for reading what is there; a missing one is
// an error that wraps fs.ErrNotExist, and a damaged one a *DamagedError: it stays
// as it is. A database that cannot be written can be read.
func OpenExisting(ctx context.Context, place string) (*Store, error) {
	return openPlace(ctx, place, false)
}

// OnServer reports whether a place is the URL of a database on a server, and not a file.
func OnServer(place string) (bool, error) {
	scheme, _, ok := strings.Cut(place, "://")
	switch {
	case !ok:
		return false, nil
	case scheme == "postgres" || scheme == "postgresql":
		return true, nil
	}
	return false, errors.New("a study database is a file, or begins with postgres://")
}

// Name returns what a place is called where people read it: a URL is without its password, which whoever uses it has
// elsewhere.
func Name(place string) string {
	if server, err := OnServer(place); err != nil || !server {
		return place
	}
	u, err := url.Parse(place)
	if err != nil {
		return "a database whose URL cannot be read"
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	query.Del("password")
	u.RawQuery = query.Encode()
	return u.String()
}

// Path returns the database's file, or its URL without the password.
func (s *Store) Path() string { return s.path }

// Lock makes this process the only one that runs a study. The lock goes with the process, however that ends.
func (s *Store) Lock(study int64) (unlock func(), err error) { return s.engine.lock(study) }

// Running reports whether a process runs a study now. It takes no lock.
func (s *Store) Running(study int64) (bool, error) {
	running, err := s.engine.running(context.Background(), study)
	return running, doing(err, "looking whether study %d runs", study)
}

// Writable returns an error where what is recorded would be lost, because the file could only be read.
func (s *Store) Writable() error {
	if s.discard != nil {
		return fmt.Errorf("%s cannot be written: nothing can be recorded there", s.path)
	}
	return nil
}

// Close closes the database.
func (s *Store) Close() error {
	err := s.engine.close()
	if s.discard != nil {
		err = errors.Join(err, s.discard())
	}
	return err
}
