package studies

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// identity notices that the file of an open database is no longer the one at its path: somebody
// has tidied up, with git clean for one. SQLite would go on writing to a file that no name
// leads to, and all of it would be gone with the process.
type identity struct {
	path string
	info os.FileInfo // nil where it is not known
	once sync.Once
	err  error
}

func identify(path string) *identity {
	info, _ := os.Stat(path)
	return &identity{path: path, info: info}
}

// check returns an error once the file is gone. What was recorded is written beside its place: at
// the place itself SQLite takes up, and removes when it closes, the log of the file that is gone.
func (i *identity) check(ctx context.Context, f *file) error {
	if i == nil || i.info == nil {
		return nil
	}
	if now, err := os.Stat(i.path); err == nil && os.SameFile(now, i.info) {
		return nil
	}
	i.once.Do(func() {
		i.err = fmt.Errorf("the study database %s was removed or replaced while it was in use", i.path)
		if kept, err := i.rescue(ctx, f); err != nil {
			i.err = fmt.Errorf("%w, and what was recorded is lost: %w", i.err, err)
		} else {
			i.err = fmt.Errorf("%w; what was recorded is at %s: rename that to %s to resume from it", i.err, kept, i.path)
		}
	})
	return i.err
}

// rescue writes what the open connections still see to a file, and returns its name.
func (i *identity) rescue(ctx context.Context, f *file) (kept string, err error) {
	if err := os.MkdirAll(filepath.Dir(i.path), 0o755); err != nil {
		return "", err
	}
	kept = i.path + ".rescued-" + time.Now().UTC().Format("20060102-150405")
	connection, err := f.db.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer connection.Close()
	var studies int // a connection that was opened since has none
	if err := connection.QueryRowContext(ctx, "SELECT COUNT(*) FROM studies").Scan(&studies); err != nil {
		return "", err
	}
	_, err = connection.ExecContext(ctx, "VACUUM INTO ?", kept)
	return kept, err
}
