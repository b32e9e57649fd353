package page

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

// Lock makes this process the only one that changes path, until unlock. It waits for
// others. The lock is held on a file beside path and goes with the process, however
// that ends: one that a killed process left behind blocks no other.
func Lock(path string) (unlock func() error, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("locking %s: %w", path, err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	name := path + ".lock"
	for {
		f, err := Hold(context.Background(), name, func() {})
		if err != nil {
			return nil, err
		}
		// Who had the lock before has removed the file: what is locked must be what
		// the next one opens.
		locked, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if there, err := os.Stat(name); err == nil && os.SameFile(there, locked) {
			return func() error { return errors.Join(removeIfThere(name), f.Close()) }, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

const (
	// holdInterval is how often a lock is tried that another process has.
	holdInterval = 20 * time.Millisecond
	// patience is how long to wait before saying why nothing happens.
	patience = time.Second
)

// Hold locks a file until it is closed, or this process ends. It makes the file where there is
// none. It waits for others until the context ends, and calls waiting once if that takes long.
func Hold(ctx context.Context, name string, waiting func()) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if errors.Is(err, fs.ErrPermission) {
		// Another user has made it in a folder like /tmp. To read it is enough for a lock.
		if theirs, failed := os.Open(name); failed == nil {
			file, err = theirs, nil
		}
	}
	if err != nil {
		return nil, err
	}
	slow := time.After(patience)
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return file, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return nil, errors.Join(err, file.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), file.Close())
		case <-slow:
			waiting()
		case <-time.After(holdInterval):
		}
	}
}
