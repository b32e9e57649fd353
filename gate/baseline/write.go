package baseline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Write replaces the file at path, which must still be as it was when f was read:
// a file that is damaged, or that somebody else has changed since, is left alone.
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

// Update changes the file at path as it is now, while nobody else does. Nothing is
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
	content, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return refused(path, err)
	}
	return ReplaceFile(path, append(content, '\n'))
}

// ReplaceFile puts content at path completely or not at all: written beside its
// place, forced to the disk, renamed, and the folder forced to the disk.
func ReplaceFile(path string, content []byte) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	temporary, err := writeBeside(path, content)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, errors.Join(err, removeIfThere(temporary)))
	}
	if err := errors.Join(syncFolder(folder), sweep(path)); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// besides names the files that writeBeside makes.
func besides(path string) string { return "." + filepath.Base(path) + ".new-*" }

// writeBeside writes a file of its own in the folder of path, forced to the disk.
func writeBeside(path string, content []byte) (temporary string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), besides(path))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(content); err != nil {
		return f.Name(), err
	}
	if err := f.Chmod(0o644); err != nil {
		return f.Name(), err
	}
	return f.Name(), f.Sync()
}

// leftoverAge is after how long a file beside the baseline belongs to a process
// that was killed.
const leftoverAge = time.Hour

// sweep removes what killed processes left beside path.
func sweep(path string) error {
	leftovers, err := filepath.Glob(filepath.Join(filepath.Dir(path), besides(path)))
	if err != nil {
		return err
	}
	for _, leftover := range leftovers {
		if info, err := os.Stat(leftover); err != nil || time.Since(info.ModTime()) < leftoverAge {
			continue // gone already, or another process is at work
		}
		if err := removeIfThere(leftover); err != nil {
			return err
		}
	}
	return nil
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

func removeIfThere(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
