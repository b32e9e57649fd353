package studies

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

// Migrations bring a database from one version to the next: 00001 makes version 1 out of
// an empty one. They are written as SQLite has them. A released file never changes.
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

// digested is the version that gives the rows of older ones their digests.
const digested = 6

// migrator is what migrating needs of an engine.
type migrator interface {
	// version returns the schema's version, 0 for an empty database and a sentence for
	// one that is not pawl's.
	version(ctx context.Context) (int64, error)
	// versions is where goose keeps the version.
	versions() database.Store
	// mayMigrate returns an error for who has no right to.
	mayMigrate(ctx context.Context) error
	// migrating keeps other processes from migrating at the same time.
	migrating(ctx context.Context, conn *sql.Conn) (done func() error, err error)
}

// migrationTexts returns the statements of each version in order, the first for version 1.
func migrationTexts() ([]string, error) {
	entries, err := migrationFiles.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, entry := range entries {
		text, err := migrationFiles.ReadFile("migrations/" + entry.Name())
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	return texts, nil
}

// migrate brings the database to the newest version this program knows. Each version is one
// transaction: whoever is killed in between has left an older version.
func (s *Store) migrate(ctx context.Context) error {
	texts, err := migrationTexts()
	if err != nil {
		return err
	}
	version, err := s.engine.version(ctx)
	if err != nil {
		return err
	}
	newest := int64(len(texts))
	switch {
	case version > newest:
		return &NewerVersionError{Path: s.path, Found: int(version), Know: int(newest)}
	case version == newest:
		return nil
	case version < 0:
		return s.foreignSchema(fmt.Sprintf("its schema has version %d", version))
	}
	if err := s.engine.mayMigrate(ctx); err != nil {
		return err
	}
	if err := s.migrateWith(ctx, texts); err != nil {
		return fmt.Errorf("migrating %s: %w", s.path, s.engine.explain(err))
	}
	return nil
}

func (s *Store) migrateWith(ctx context.Context, texts []string) error {
	var steps []*goose.Migration
	for i, text := range texts {
		steps = append(steps,
			goose.NewGoMigration(int64(i+1), &goose.GoFunc{RunTx: s.step(i+1, text)}, &goose.GoFunc{RunTx: neverBack}))
	}
	db, ok := s.db.querier.(*sql.DB)
	if !ok {
		panic("studies: a store without its database")
	}
	provider, err := goose.NewProvider(goose.DialectCustom, db, nil, goose.WithStore(s.engine.versions()),
		goose.WithGoMigrations(steps...),
		goose.WithDisableGlobalRegistry(true), goose.WithSessionLocker(&locker{engine: s.engine}))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

func (s *Store) step(version int, text string) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, s.engine.translate(text)); err != nil || version != digested {
			return err
		}
		return digestOld(ctx, session{tx, s.engine})
	}
}

func neverBack(context.Context, *sql.Tx) error { return errors.New("a schema does not go back") }

// locker is an engine's lock as goose asks for it.
type locker struct {
	engine migrator
	done   func() error
}

func (l *locker) SessionLock(ctx context.Context, conn *sql.Conn) (err error) {
	l.done, err = l.engine.migrating(ctx, conn)
	return err
}

func (l *locker) SessionUnlock(context.Context, *sql.Conn) error { return l.done() }

// foreignSchema says that the tables are not those that pawl makes.
func (s *Store) foreignSchema(detail string) error {
	return &DamagedError{
		Path:   s.path,
		Detail: detail,
		Advice: "it was left as it is; move it away, or name another folder with --out",
	}
}
