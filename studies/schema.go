package studies

import (
	"context"
	_ "embed" // the tables
	"fmt"
)

// schema makes the tables, as SQLite has them.
//
//go:embed schema.sql
var schema string

// schemaVersion identifies the schema. It changes with every change of it, which is a migration.
const schemaVersion = 12

// migrations turn the tables of one version into those of the next one. What they execute stays as it is for ever.
var migrations = map[int64]func(ctx context.Context, tx session) error{
	11: addSummaries,
}

func addSummaries(ctx context.Context, tx session) error {
	if _, err := tx.exec(ctx, `CREATE TABLE summaries (
  study    INTEGER PRIMARY KEY REFERENCES studies(id) ON DELETE CASCADE,
  tally    TEXT NOT NULL,
  facts    TEXT NOT NULL DEFAULT '',
  facts_of TEXT NOT NULL DEFAULT '',
  digest   TEXT NOT NULL DEFAULT ''
)`); err != nil {
		return err
	}
	all, err := countRows(ctx, tx, 0)
	if err != nil {
		return err
	}
	for study, counted := range all {
		if counted.Tables["studies"].Rows == 0 { // rows of no study
			continue
		}
		if err := writeSummary(ctx, tx, study, summary{tally: counted}); err != nil {
			return err
		}
	}
	return nil
}

type creator interface {
	// version returns the schema's version, 0 for an empty database and a sentence for
	// one that is not pawl's. setVersion is part of the transaction that makes the schema.
	version(ctx context.Context) (int64, error)
	setVersion(ctx context.Context, tx session, version int64) error
	// mayCreate returns an error for who has no right to.
	mayCreate(ctx context.Context) error
	// creating keeps other processes from making the tables at the same time, until done.
	creating(ctx context.Context) (done func(), err error)
	// setAside copies everything, as the transaction sees it, to a place that it returns, before the tables are changed.
	setAside(ctx context.Context, tx session, version int64) (place string, err error)
	// anyRunning reports whether a process runs a study.
	anyRunning(ctx context.Context) (bool, error)
	// grant gives those who may use the table of trials the same rights on a new table.
	grant(ctx context.Context, tx session, table string) error
}

// create makes the tables of an empty database, in one transaction. Those of an earlier version become those of this
// one, after a copy was set aside, unless the database is a copy itself. Those of a later one are refused.
func (s *Store) create(ctx context.Context, isCopy bool) error {
	version, err := s.engine.version(ctx)
	if err != nil || version == schemaVersion {
		return err
	}
	if version != 0 && !migratable(version) {
		return &OtherVersionError{Path: s.path, Found: int(version), Know: schemaVersion}
	}
	if err := s.engine.mayCreate(ctx); err != nil {
		return err
	}
	doingWhat := "making the tables of %s"
	if version != 0 {
		doingWhat = "turning %s into a database of this version"
	}
	return doing(s.engine.explain(s.createTables(ctx, isCopy)), doingWhat, s.path)
}

// migratable reports whether there are migrations from a version to this one.
func migratable(version int64) bool {
	for ; version < schemaVersion; version++ {
		if migrations[version] == nil {
			return false
		}
	}
	return version == schemaVersion
}

func (s *Store) createTables(ctx context.Context, isCopy bool) error {
	done, err := s.engine.creating(ctx)
	if err != nil {
		return err
	}
	defer done()
	version, err := s.engine.version(ctx) // another process may have made them meanwhile
	if err != nil || version == schemaVersion {
		return err
	}
	if version == 0 {
		return s.transact(ctx, 0, func(tx session) error {
			if _, err := tx.exec(ctx, schema); err != nil {
				return err
			}
			return s.engine.setVersion(ctx, tx, schemaVersion)
		})
	}
	return s.migrate(ctx, version, isCopy)
}

func (s *Store) migrate(ctx context.Context, version int64, isCopy bool) error {
	notice := ""
	err := s.transact(ctx, 0, func(tx session) error {
		if !isCopy {
			running, err := s.engine.anyRunning(ctx)
			if err != nil {
				return err
			}
			if running {
				return fmt.Errorf("%w of an earlier version: try again when it has ended", ErrBusy)
			}
			aside, err := s.engine.setAside(ctx, tx, version)
			if err != nil {
				return fmt.Errorf("setting a copy aside: %w", err)
			}
			notice = fmt.Sprintf("%s was of an earlier version of pawl (schema %d, now %d); as it was it is at %s", s.path,
				version, schemaVersion, aside)
		}
		for ; version < schemaVersion; version++ {
			if err := migrations[version](ctx, tx); err != nil {
				return err
			}
		}
		if err := s.engine.grant(ctx, tx, "summaries"); err != nil {
			return err
		}
		return s.engine.setVersion(ctx, tx, schemaVersion)
	})
	if err == nil && notice != "" {
		s.Notices = append(s.Notices, notice)
	}
	return err
}

// foreignSchema says that the tables are not those that pawl makes.
func foreignSchema(path, detail string) error {
	return &DamagedError{
		Path:   path,
		Detail: detail,
		Advice: "it was left as it is; move it away, or name another folder with --out",
	}
}
