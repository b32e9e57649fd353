package studies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// writable reports whether a database can be opened as SQLite likes it: it writes
// beside the file even where it is only read.
func writable(path string) bool {
	return unix.Access(path, unix.W_OK) == nil && unix.Access(filepath.Dir(path), unix.W_OK) == nil
}

// openCopy opens a copy of a database that cannot be written. The copy goes with the store.
func openCopy(ctx context.Context, path string) (*Store, error) {
	folder, err := os.MkdirTemp("", "pawl-studies-")
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	discard := func() error { return os.RemoveAll(folder) }
	copied := filepath.Join(folder, filepath.Base(path))
	if err := copyDatabase(path, copied); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, errors.Join(err, discard()))
	}
	if err := inspect(ctx, copied); err != nil {
		return nil, errors.Join(unusable(path, err), discard())
	}
	lost, err := droppedFrames(copied)
	if err != nil {
		return nil, errors.Join(err, discard())
	}
	s, err := open(ctx, copied, true)
	if err != nil {
		return nil, errors.Join(err, discard())
	}
	if lost != "" {
		s.Notices = append(s.Notices, fmt.Sprintf(logDamaged, path, lost)+"; it was left as it is")
	}
	s.path, s.discard = path, discard
	s.engine.(*file).path = path // for its locks
	return s, nil
}

// copyDatabase copies a database with its log, as they were at one moment: if
// another process writes meanwhile, it begins again.
func copyDatabase(from, to string) error {
	for range 5 {
		before := stamp(from)
		for _, suffix := range []string{"", "-wal", "-journal"} {
			if err := copyFile(from+suffix, to+suffix); err != nil && !(suffix != "" && errors.Is(err, fs.ErrNotExist)) {
				return err
			}
		}
		if stamp(from) == before {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("another process is writing to it all the time")
}

// stamp changes when a database is written.
func stamp(path string) (text string) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			text += fmt.Sprintln(suffix, info.Size(), info.ModTime())
		}
	}
	return text
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
