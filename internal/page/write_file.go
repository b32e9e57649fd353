package page

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"pawl/internal/process"
)

// WriteFile puts what render writes at path, completely or not at all: killed at any
// instant, the file is the old one or the new one. The new one is written beside the
// old, forced to the disk and renamed; then the folder is forced to the disk. Missing
// folders are made. An old file keeps its permissions, and a symbolic link goes on
// pointing to what it points to. What is no file, such as /dev/stdout, is written to. Secrets of this process's
// environment are left out, however they came into the text.
func WriteFile(path string, render func(io.Writer) error) error {
	if err := writeFile(path, render); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func writeFile(path string, render func(io.Writer) error) error {
	var content bytes.Buffer
	if err := render(&content); err != nil {
		return err
	}
	clean := []byte(process.WithoutSecrets(content.String()))
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		if mode = info.Mode(); !mode.IsRegular() {
			return os.WriteFile(path, clean, mode)
		}
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	temporary, err := createBeside(path)
	if err != nil {
		return err
	}
	defer temporary.Close() // only now may others sweep it away
	err = writeTo(temporary, clean, mode.Perm())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(temporary.Name()))
	}
	return errors.Join(syncFolder(folder), sweep(path))
}

// besides names the files that createBeside makes.
func besides(path string) string { return "." + filepath.Base(path) + ".new-*" }

// createBeside creates a temporary file in the folder of path, and holds it locked: who can lock one finds that its
// process was killed. A file that somebody else has swept away before it was locked is made anew.
func createBeside(path string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(filepath.Dir(path), besides(path))
		if err != nil {
			return nil, err
		}
		locked := lock(f)
		_, gone := os.Stat(f.Name())
		if locked != errHeld && !errors.Is(gone, fs.ErrNotExist) {
			return f, nil
		}
		f.Close()
	}
}

// errHeld says that another process holds a file.
const errHeld = syscall.EWOULDBLOCK

// lock locks a file until it is closed, and fails with errHeld where another process has. Some file systems know no
// locks, and say so.
func lock(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return err
	}
	return nil
}

// writeTo writes a file and forces it to the disk.
func writeTo(f *os.File, content []byte, mode fs.FileMode) error {
	_, err := f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return err
}

// leftoverAge is after how long a temporary file belongs to a process that was killed, where files cannot be locked.
const leftoverAge = time.Hour

// sweep removes what killed processes left beside path.
func sweep(path string) error {
	leftovers, err := filepath.Glob(filepath.Join(filepath.Dir(path), besides(path)))
	if err != nil {
		return err
	}
	for _, leftover := range leftovers {
		if err := sweepOne(leftover); err != nil {
			return err
		}
	}
	return nil
}

func sweepOne(leftover string) error {
	f, err := os.Open(leftover)
	if err != nil {
		return nil // gone already, or another user's
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if err := lock(f); err == errHeld || err != nil && time.Since(info.ModTime()) < leftoverAge {
		return nil // another process is at work
	}
	return removeIfThere(leftover)
}

// syncFolder forces a folder to the disk. Some file systems cannot, and say so.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, folder.Close())
}

// ReadIfThere returns a file's content, nil where there is none.
func ReadIfThere(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

func removeIfThere(path string) error {
	if err := os.Remove(path); path != "" && err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// WriteFolder makes a folder completely or not at all: fill gets another one beside it, which is
// renamed. A folder that is there already stays: another process was quicker.
func WriteFolder(folder string, fill func(temporary string) error) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(filepath.Dir(folder), "unpacking-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	if err := errors.Join(os.Chmod(temporary, 0o755), fill(temporary)); err != nil {
		return err
	}
	if err := os.Rename(temporary, folder); err != nil {
		if _, missing := os.Stat(folder); missing != nil {
			return err
		}
	}
	return nil
}

// File is a page with its name in a folder.
type File struct {
	Name   string
	Render func(io.Writer) error
}

// WriteFiles writes several pages into a folder and returns the paths of those that
// are there now.
func WriteFiles(folder string, files ...File) (paths []string, err error) {
	for _, f := range files {
		path := filepath.Join(folder, f.Name)
		if err := WriteFile(path, f.Render); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}
