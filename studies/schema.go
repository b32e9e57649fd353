package studies

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations bring a database from one version to the next: migrations[0]
// makes version 1 out of an empty file. A released entry never changes.
var migrations = []string{
	`CREATE TABLE studies (
		id          INTEGER PRIMARY KEY AUTOINCREMENT,
		kernel      TEXT NOT NULL,
		origin      TEXT NOT NULL,
		workload    TEXT NOT NULL,
		dims        TEXT NOT NULL,
		backend     TEXT NOT NULL,
		sampler     TEXT NOT NULL,
		seed        INTEGER NOT NULL,
		fingerprint TEXT NOT NULL,
		source      TEXT NOT NULL,
		space       TEXT NOT NULL,
		work        TEXT NOT NULL,
		environment TEXT NOT NULL,
		command     TEXT NOT NULL,
		created     TEXT NOT NULL,
		ended       TEXT NOT NULL DEFAULT '',
		elapsed_ns  INTEGER NOT NULL DEFAULT 0
	);
	CREATE TABLE trials (
		study      INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
		number     INTEGER NOT NULL,
		point      TEXT NOT NULL,
		told       INTEGER NOT NULL DEFAULT 0,
		stage      TEXT NOT NULL DEFAULT '',
		reason     TEXT NOT NULL DEFAULT '',
		detail     TEXT NOT NULL DEFAULT '',
		samples    TEXT NOT NULL DEFAULT '[]',
		batch      INTEGER NOT NULL DEFAULT 0,
		binary     TEXT NOT NULL DEFAULT '',
		same_as    TEXT NOT NULL DEFAULT '',
		stop       TEXT NOT NULL DEFAULT '',
		compile_ns INTEGER NOT NULL DEFAULT 0,
		check_ns   INTEGER NOT NULL DEFAULT 0,
		measure_ns INTEGER NOT NULL DEFAULT 0,
		cache_hit  INTEGER NOT NULL DEFAULT 0,
		elapsed_ns INTEGER NOT NULL DEFAULT 0,
		PRIMARY KEY (study, number),
		UNIQUE (study, point)
	) WITHOUT ROWID;
	CREATE TABLE rounds (
		study   INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
		phase   TEXT NOT NULL,
		number  INTEGER NOT NULL,
		point   TEXT NOT NULL,
		stage   TEXT NOT NULL DEFAULT '',
		reason  TEXT NOT NULL DEFAULT '',
		detail  TEXT NOT NULL DEFAULT '',
		samples TEXT NOT NULL DEFAULT '[]',
		batch   INTEGER NOT NULL DEFAULT 0,
		binary  TEXT NOT NULL DEFAULT '',
		PRIMARY KEY (study, phase, number, point)
	) WITHOUT ROWID;`,
	// The points that a study took over from earlier ones: a resumed study must
	// begin as it began.
	`ALTER TABLE studies ADD COLUMN first TEXT NOT NULL DEFAULT '[]'`,
	// What the search estimates to have left behind, as JSON; empty for nothing.
	`ALTER TABLE studies ADD COLUMN regret TEXT NOT NULL DEFAULT ''`,
	// What the compiler and the device said about a point, as JSON; where a
	// study's time went, which parameters are dead, and the device's roofline.
	`ALTER TABLE trials ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';
	ALTER TABLE rounds ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';
	ALTER TABLE studies ADD COLUMN spending TEXT NOT NULL DEFAULT '{}';
	ALTER TABLE studies ADD COLUMN dead TEXT NOT NULL DEFAULT '[]';
	ALTER TABLE studies ADD COLUMN roofline TEXT NOT NULL DEFAULT '{}'`,
	// Which rounds were measured against each other, and the options that a study
	// was begun with, as JSON.
	`ALTER TABLE rounds ADD COLUMN run INTEGER NOT NULL DEFAULT 0;
	ALTER TABLE studies ADD COLUMN options TEXT NOT NULL DEFAULT '{}'`,
	// A digest of each row: see rowDigest for what later columns must heed.
	`ALTER TABLE studies ADD COLUMN digest TEXT NOT NULL DEFAULT '';
	ALTER TABLE trials ADD COLUMN digest TEXT NOT NULL DEFAULT '';
	ALTER TABLE rounds ADD COLUMN digest TEXT NOT NULL DEFAULT ''`,
	// What the gate said about points of a study.
	`CREATE TABLE gatings (
		study    INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
		number   INTEGER NOT NULL,
		point    TEXT NOT NULL,
		workload TEXT NOT NULL,
		standing TEXT NOT NULL,
		verdict  TEXT NOT NULL,
		reason   TEXT NOT NULL DEFAULT '',
		created  TEXT NOT NULL,
		facts    TEXT NOT NULL DEFAULT '{}',
		result   TEXT NOT NULL DEFAULT '{}',
		digest   TEXT NOT NULL DEFAULT '',
		PRIMARY KEY (study, number)
	) WITHOUT ROWID`,
	// The workloads that the kernel had, as JSON, and the rounds that compare the winner
	// with the default on those that are not the study's own.
	`ALTER TABLE studies ADD COLUMN workloads TEXT NOT NULL DEFAULT '[]';
	CREATE TABLE across (
		study    INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
		workload TEXT NOT NULL,
		number   INTEGER NOT NULL,
		point    TEXT NOT NULL,
		run      INTEGER NOT NULL DEFAULT 0,
		stage    TEXT NOT NULL DEFAULT '',
		reason   TEXT NOT NULL DEFAULT '',
		detail   TEXT NOT NULL DEFAULT '',
		samples  TEXT NOT NULL DEFAULT '[]',
		batch    INTEGER NOT NULL DEFAULT 0,
		binary   TEXT NOT NULL DEFAULT '',
		facts    TEXT NOT NULL DEFAULT '{}',
		digest   TEXT NOT NULL DEFAULT '',
		PRIMARY KEY (study, workload, number, point)
	) WITHOUT ROWID`,
	// What a profiler counted in one launch of a point.
	`CREATE TABLE profiles (
		study    INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
		number   INTEGER NOT NULL,
		point    TEXT NOT NULL,
		workload TEXT NOT NULL,
		tool     TEXT NOT NULL,
		report   TEXT NOT NULL DEFAULT '',
		created  TEXT NOT NULL,
		binary   TEXT NOT NULL DEFAULT '',
		metrics  TEXT NOT NULL DEFAULT '{}',
		digest   TEXT NOT NULL DEFAULT '',
		PRIMARY KEY (study, number)
	) WITHOUT ROWID`,
}

// migrate brings the database to the newest version this program knows.
func (s *Store) migrate(ctx context.Context) error {
	version, err := s.version(ctx)
	if err != nil {
		return err
	}
	if version > len(migrations) {
		return &NewerVersionError{Path: s.path, Found: version, Know: len(migrations)}
	}
	if version == len(migrations) {
		return nil
	}
	if version < 0 {
		return s.foreignSchema(fmt.Sprintf("its schema has version %d", version))
	}
	// Another process may migrate at the same time: look again inside the
	// transaction, which holds the write lock.
	err = s.transact(ctx, func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		for ; version < len(migrations); version++ {
			if _, err := tx.ExecContext(ctx, migrations[version]); err != nil {
				return fmt.Errorf("to version %d: %w", version+1, err)
			}
		}
		if err := sealOld(ctx, tx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(migrations)))
		return err
	})
	if err != nil {
		return fmt.Errorf("migrating %s: %w", s.path, err)
	}
	return nil
}

// foreignSchema says that the tables are not those that pawl makes.
func (s *Store) foreignSchema(detail string) error {
	return &DamagedError{Path: s.path, Detail: detail, Advice: "it was left as it is; move it away, or name another folder with --out"}
}

func (s *Store) version(ctx context.Context) (int, error) {
	var version int
	if err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("opening %s: %w", s.path, err)
	}
	return version, nil
}
