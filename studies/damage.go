package studies

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
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

// inspect makes sure that the file is a sound database of pawl's, or none yet. It opens it
// for reading only: SQLite would otherwise move the content of a log into a file
// that is damaged, and what is set aside would not be what was found.
func inspect(ctx context.Context, path string) error {
	if size(path) == 0 {
		if size(path+"-wal") > 0 {
			return fmt.Errorf("%w: it is missing or empty, but its log %s-wal is there", errDamaged, path)
		}
		return nil
	}
	result, err := integrity(ctx, path, "mode=ro")
	if hasCode(err, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) {
		// A file that was being created when its process was killed is rolled back first, which needs to write.
		result, err = integrity(ctx, path, "mode=rw")
	}
	if err == nil && result != "ok" {
		result = strings.TrimPrefix(result, "*** in database main ***")
		err = fmt.Errorf("%w: %s", errDamaged, strings.Join(strings.Fields(result), " "))
	}
	if hasCode(err, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL) {
		err = fmt.Errorf("%w; is the disk full?", err)
	}
	if err != nil && !damaged(err) {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	return err
}

// integrity returns what SQLite says about a database: "ok", or what is wrong. A sound one must be pawl's.
func integrity(ctx context.Context, path, mode string) (result string, err error) {
	db, err := sql.Open("sqlite", dsn(path, mode))
	if err != nil {
		return "", err
	}
	defer db.Close()
	if err = db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&result); err == nil && result == "ok" {
		err = foreign(ctx, db)
	}
	return result, err
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
	aside = freeName(path)
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}

func freeName(path string) string {
	stamp := time.Now().UTC().Format("20060102-150405")
	name := fmt.Sprintf("%s.damaged-%s", path, stamp)
	for i := 1; exists(name) || exists(name+"-wal"); i++ {
		name = fmt.Sprintf("%s.damaged-%s-%d", path, stamp, i)
	}
	return name
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// damage holds, by study, the rows that are not what was recorded. A file is examined as a
// whole when it is opened; on a server, where others keep large databases, a study is when it
// is first read.
type damage struct {
	mu       sync.Mutex
	rows     map[int64][]string
	lazy     bool
	examined map[int64]bool
}

func (s *Store) examine(ctx context.Context, tables []digestedTable) error {
	rows, err := s.unsound(ctx, tables, 0)
	if err != nil {
		return err
	}
	s.damage.rows = rows
	for _, study := range slices.Sorted(maps.Keys(rows)) {
		s.Notices = append(s.Notices, s.damage.of(s.path, study).Error())
	}
	return nil
}

// damageOf returns the error for a study of which rows are damaged, nil for one that is sound.
func (s *Store) damageOf(ctx context.Context, study int64) error {
	d := &s.damage
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lazy && !d.examined[study] {
		var rows map[int64][]string
		if err := s.read(ctx, func() (err error) {
			rows, err = s.unsound(ctx, digestedTables, study)
			return err
		}); err != nil {
			return err
		}
		d.examined[study] = true
		if len(rows[study]) > 0 {
			d.rows[study] = rows[study]
		}
	}
	return d.of(s.path, study)
}

func (d *damage) of(path string, study int64) error {
	rows := d.rows[study]
	if len(rows) == 0 {
		return nil
	}
	const most = 3
	detail := strings.Join(rows[:min(most, len(rows))], ", ")
	if len(rows) > most {
		detail += fmt.Sprintf(" and %d more", len(rows)-most)
	}
	return &DamagedError{path, study, detail + " is not what was recorded",
		"other studies can be used, and pawl tune begins a new one"}
}

// Locked reports whether an error means that another process holds the database for longer than one waits.
func Locked(err error) bool { return hasCode(err, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) }
