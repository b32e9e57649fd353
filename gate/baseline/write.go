package baseline

import (
	"errors"
	"fmt"
	"io"

	"pawl/internal/page"
)

// Write replaces the file at path, which must still be as it was when f was read:
// a file that is damaged, or that another process has changed since, is left alone.
func (f *File) Write(path string) error {
	err := Update(path, func(onDisk *File) error {
		if onDisk.Digest != f.Digest {
			return fmt.Errorf("baseline %s: another process has changed it meanwhile; nothing was written. Run the command again", path)
		}
		*onDisk = *f
		return nil
	})
	if err == nil {
		f.Digest, err = f.digest()
	}
	return err
}

// Update changes the file at path as it is now, under its lock. Nothing is written
// where change returns an error.
func Update(path string, change func(*File) error) (err error) {
	unlock, err := lock(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	f, err := Read(path)
	if err != nil {
		return err
	}
	if err := change(f); err != nil {
		return err
	}
	return f.WriteResults(path)
}

// WriteResults seals the file and writes it over whatever is there. Killed at any
// instant, the file is the old one or the new one.
func (f *File) WriteResults(path string) (err error) {
	sealed := *f
	if sealed.Digest, err = f.digest(); err != nil {
		return fmt.Errorf("baseline %s: refusing to write it: %w", path, err)
	}
	return page.WriteFile(path, func(w io.Writer) error { return page.JSON(w, sealed) })
}
