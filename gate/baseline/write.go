package baseline

import (
	"errors"
	"fmt"
	"io"

	"pawl/internal/page"
)

// Write replaces the file at path, which must still be as it was when f was read:
// a file that is damaged, or that another process has changed since, is left alone.
// Killed at any instant, the file is the old one or the new one.
func (f *File) Write(path string) (err error) {
	unlock, err := lock(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	onDisk, err := Read(path)
	if err != nil {
		return err
	}
	if onDisk.Digest != f.Digest {
		return fmt.Errorf("baseline %s: it was changed by somebody else meanwhile; nothing was written. Run the command again", path)
	}
	return f.put(path)
}

// Update changes the file at path as it is now, under its lock. Nothing is
// written where change returns an error.
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
	return f.put(path)
}

// put seals the file and writes it; its lock is held.
func (f *File) put(path string) error {
	digest, err := f.digest()
	if err != nil {
		return refused(path, err)
	}
	sealed := *f
	sealed.Digest = digest
	if err := replace(path, &sealed); err != nil {
		return err
	}
	f.Digest = digest
	return nil
}

// WriteResults writes results in the same form, over whatever is there.
func (f *File) WriteResults(path string) error {
	results := *f
	return results.put(path)
}

func refused(path string, err error) error {
	return fmt.Errorf("baseline %s: refusing to write it: %w", path, err)
}

func replace(path string, f *File) error {
	return page.WriteFile(path, func(w io.Writer) error { return page.JSON(w, f) })
}
