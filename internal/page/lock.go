package page

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, err
		}
		for {
			if err = unix.Flock(int(f.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
				break
			}
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		// Who had the lock before has removed the file: what is locked must be what
		// the next one opens.
		locked, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if there, err := os.Stat(name); err == nil && os.SameFile(there, locked) {
			return func() error {
				if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return errors.Join(err, f.Close())
				}
				return f.Close()
			}, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}
