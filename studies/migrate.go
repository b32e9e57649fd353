package studies

import (
	"context"
	"embed"
	"fmt"
)

// Migrations bring a database from one version to the next: 00001 makes version 1 out of
// an empty one. They are written as SQLite has them. A released file never changes.
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

// digested is the version that gives the rows of older ones their digests.
const digested = 6

type migrator interface {
	// version returns the schema's version, 0 for an empty database and a sentence for
	// one that is not pawl's. setVersion is part of the transaction that changes the schema.
	version(ctx context.Context) (int64, error)
	setVersion(ctx context.Context, tx session, version int64) error
	// mayMigrate returns an error for who has no right to.
	mayMigrate(ctx context.Context) error
	// migrating keeps other processes from migrating at the same time, until done.
	migrating(ctx context.Context) (done func(), err error)
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
	done, err := s.engine.migrating(ctx)
	if err != nil {
		return err
	}
	defer done()
	version, err := s.engine.version(ctx) // another process may have migrated meanwhile
	for ; err == nil && version < int64(len(texts)); version++ {
		err = s.transact(ctx, 0, func(tx session) error {
			_, err := tx.exec(ctx, texts[version])
			if err == nil && version+1 == digested {
				err = digestOld(ctx, tx)
			}
			if err == nil {
				err = s.engine.setVersion(ctx, tx, version+1)
			}
			return err
		})
	}
	return err
}

// foreignSchema says that the tables are not those that pawl makes.
func (s *Store) foreignSchema(detail string) error {
	return &DamagedError{
		Path:   s.path,
		Detail: detail,
		Advice: "it was left as it is; move it away, or name another folder with --out",
	}
}
