package studies

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"pawl/internal/page"
)

// DamagedError says that a database, or a study in it, is not what was recorded.
type DamagedError struct {
	Path string
	// Study is 0 where the whole file cannot be used.
	Study int64
	// Detail says what is wrong, Advice what can still be used.
	Detail, Advice string
}

func (e *DamagedError) Error() string {
	what := "the study database " + e.Path
	if e.Study != 0 {
		what = fmt.Sprintf("study %d in %s", e.Study, e.Path)
	}
	return fmt.Sprintf("%s is damaged: %s; %s", what, e.Detail, e.Advice)
}

var errDamaged = errors.New("the database is damaged")

// damaged reports whether an error means that the file's content is broken, as
// opposed to a missing permission or a full disk.
func damaged(err error) bool {
	return errors.Is(err, errDamaged) || hasCode(err, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
}

// hasCode reports whether an error is SQLite's, with one of its primary codes.
func hasCode(err error, codes ...int) bool {
	var coded *sqlite.Error
	return errors.As(err, &coded) && slices.Contains(codes, coded.Code()&0xff)
}

// inspect makes sure that the file is a database of pawl's, or none yet, that can be read and written where a search
// will write. It opens it for reading only: SQLite would otherwise move the content of a log into a file that is
// damaged, and what is set aside would not be what was found. What it takes does not depend on the studies: these are
// compared with their digests when they are read.
func inspect(ctx context.Context, path string) error {
	if size(path) == 0 {
		if size(path+"-wal") > 0 {
			return fmt.Errorf("%w: it is missing or empty, but its log %s-wal is there", errDamaged, path)
		}
		return nil
	}
	if err := recognize(path); err != nil {
		return err
	}
	err := survey(ctx, path, "mode=ro")
	if hasCode(err, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) {
		// A file that was being created when its process was killed is rolled back first, which needs to write.
		err = survey(ctx, path, "mode=rw")
	}
	if hasCode(err, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL) {
		err = fmt.Errorf("%w; is the disk full?", err)
	}
	if err != nil && !damaged(err) {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	return err
}

// recognize refuses a file that does not begin as a SQLite database: SQLite itself takes one that is short for a new
// one, and writes over it. One with a journal was being created, and is rolled back.
func recognize(path string) error {
	const magic, smallest = "SQLite format 3\x00", 512
	if exists(path + "-journal") {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, smallest)
	n, err := io.ReadFull(f, head)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: it has %s and is no SQLite database", errDamaged, page.Count(n, "byte"))
	case err != nil:
		return err
	case string(head[:len(magic)]) != magic:
		return fmt.Errorf("%w: it does not begin as a SQLite database does", errDamaged)
	}
	pageSize := int64(binary.BigEndian.Uint16(head[len(magic):]))
	if rest := size(path) % max(pageSize, smallest); rest != 0 {
		return fmt.Errorf("%w: its last page has %d bytes of %d", errDamaged, rest, pageSize)
	}
	return nil
}

// survey looks at what a database is and at the ends of its tables, where the next rows are written. Of one of another
// version, which is about to be changed as a whole, SQLite looks at every page.
func survey(ctx context.Context, path, mode string) error {
	db, err := sql.Open("sqlite", dsn(path, mode))
	if err != nil {
		return err
	}
	defer db.Close()
	s := session{db, &file{db: db, path: path}}
	version, err := s.engine.version(ctx)
	if err != nil {
		return err
	}
	if version != schemaVersion {
		if err := integrity(ctx, db); err != nil {
			return err
		}
	}
	if err := foreign(ctx, db); err != nil || version != schemaVersion {
		return err
	}
	for _, table := range append(slices.Clone(digestedTables), digestedTable{name: "summaries", key: []string{"study"}}) {
		last := "SELECT * FROM " + table.name + " ORDER BY " + strings.Join(table.key, " DESC, ") + " DESC LIMIT 1"
		if err := eachRow(ctx, s, func(row columns) error {
			for _, name := range append([]string{digestColumn}, table.key...) {
				if row.get(name) == nil {
					return foreignSchema(path, fmt.Sprintf("table %s has no column %s", table.name, name))
				}
			}
			return nil
		}, last); err != nil {
			return err
		}
	}
	return nil
}

// integrity returns what SQLite finds wrong in any page.
func integrity(ctx context.Context, db *sql.DB) error {
	var result string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&result); err != nil || result == "ok" {
		return err
	}
	result = strings.TrimPrefix(result, "*** in database main ***")
	return fmt.Errorf("%w: %s", errDamaged, strings.Join(strings.Fields(result), " "))
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// setAsideDamaged moves a damaged database, with what SQLite keeps beside it, out of the way and returns where it is.
// Of several processes that meet the same damage one moves the file, and the others
// find the new one.
func setAsideDamaged(ctx context.Context, path string) (aside string, err error) {
	lock, err := (&file{path: path}).region(0, waitCommand)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := patiently(ctx, func(ctx context.Context) error { return inspect(ctx, path) }); err == nil || !damaged(err) {
		return "", err
	}
	aside = freeName(path, "damaged")
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}

// freeName returns a name beside a database that nothing has yet.
func freeName(path, what string) string {
	stamp := time.Now().UTC().Format("20060102-150405")
	name := fmt.Sprintf("%s.%s-%s", path, what, stamp)
	for i := 1; exists(name) || exists(name+"-wal"); i++ {
		name = fmt.Sprintf("%s.%s-%s-%d", path, what, stamp, i)
	}
	return name
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// damagedStudy says that a study is not what was recorded.
func (s *Store) damagedStudy(study int64, detail string) error {
	return &DamagedError{s.path, study, detail, "other studies can be used, and pawl tune begins a new one"}
}

// changedRows says which rows of a study are not what was recorded.
func (s *Store) changedRows(study int64, rows []string) error {
	const most = 3
	detail := strings.Join(rows[:min(most, len(rows))], ", ")
	if len(rows) > most {
		detail += fmt.Sprintf(" and %d more", len(rows)-most)
	}
	return s.damagedStudy(study, detail+" is not what was recorded")
}

// damagedBy says of an error which means that a part of the file cannot be read that it is of a study; others stay.
func (s *Store) damagedBy(study int64, err error) error {
	if !damaged(err) {
		return err
	}
	return s.damagedStudy(study, err.Error())
}

// Verify reads everything that is recorded, and returns the errors of what is damaged.
func (s *Store) Verify(ctx context.Context) (damage []error, err error) {
	if f, isFile := s.engine.(*file); isFile {
		if err := integrity(ctx, f.db); damaged(err) {
			damage = append(damage, unusable(s.path, err))
		} else if err != nil {
			return nil, err
		}
	}
	all, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, study := range all {
		err := s.verifyStudy(ctx, study.ID)
		switch {
		case errors.As(err, new(*DamagedError)):
			damage = append(damage, err)
		case err != nil && !errors.Is(err, ErrNoStudy): // it may have been deleted meanwhile
			return nil, err
		}
	}
	return damage, nil
}

func (s *Store) verifyStudy(ctx context.Context, study int64) error {
	if _, err := s.Study(ctx, study); err != nil {
		return err
	}
	for _, table := range digestedTables[1:] {
		if err := s.wholeTable(ctx, study, table.name, func() (tableTally, error) {
			_, seen, err := readRows(ctx, s, study, table.name, "", func(*struct{}) columns { return nil })
			return seen, err
		}); err != nil {
			return err
		}
	}
	return nil
}

// Locked reports whether an error means that another process holds the database for longer than one waits.
func Locked(err error) bool { return hasCode(err, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) }
