package studies

import (
	"context"
	_ "embed" // the tables
)

// schema makes the tables, as SQLite has them.
//
//go:embed schema.sql
var schema string

// schemaVersion identifies the schema. It changes with every change of it.
const schemaVersion = 11

type creator interface {
	// version returns the schema's version, 0 for an empty database and a sentence for
	// one that is not pawl's. setVersion is part of the transaction that makes the schema.
	version(ctx context.Context) (int64, error)
	setVersion(ctx context.Context, tx session, version int64) error
	// mayCreate returns an error for who has no right to.
	mayCreate(ctx context.Context) error
	// creating keeps other processes from making the tables at the same time, until done.
	creating(ctx context.Context) (done func(), err error)
}

// create makes the tables of an empty database, in one transaction. One of another version is refused.
func (s *Store) create(ctx context.Context) error {
	version, err := s.engine.version(ctx)
	switch {
	case err != nil:
		return err
	case version == schemaVersion:
		return nil
	case version != 0:
		return &OtherVersionError{Path: s.path, Found: int(version), Know: schemaVersion}
	}
	if err := s.engine.mayCreate(ctx); err != nil {
		return err
	}
	return doing(s.engine.explain(s.createTables(ctx)), "making the tables of %s", s.path)
}

func (s *Store) createTables(ctx context.Context) error {
	done, err := s.engine.creating(ctx)
	if err != nil {
		return err
	}
	defer done()
	version, err := s.engine.version(ctx) // another process may have made them meanwhile
	if err != nil || version != 0 {
		return err
	}
	return s.transact(ctx, 0, func(tx session) error {
		if _, err := tx.exec(ctx, schema); err != nil {
			return err
		}
		return s.engine.setVersion(ctx, tx, schemaVersion)
	})
}

// foreignSchema says that the tables are not those that pawl makes.
func (s *Store) foreignSchema(detail string) error {
	return &DamagedError{
		Path:   s.path,
		Detail: detail,
		Advice: "it was left as it is; move it away, or name another folder with --out",
	}
}
