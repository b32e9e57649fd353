package page

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func text(content string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	found, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(found)
}

func TestWriteFileMakesFoldersAndLeavesNothingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "file")
	for _, want := range []string{"one", "two"} {
		if err := WriteFile(path, text(want)); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != want {
			t.Errorf("%q", got)
		}
	}
	if found, _ := os.ReadDir(filepath.Dir(path)); len(found) != 1 {
		t.Errorf("%v", found)
	}
	if info, _ := os.Stat(path); info.Mode() != 0o644 {
		t.Errorf("%v", info.Mode())
	}
}

// A page that cannot be rendered leaves the old one, and no temporary file.
func TestWriteFileIsAllOrNothing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	if err := WriteFile(path, text("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := WriteFile(path, func(w io.Writer) error {
		io.WriteString(w, "half")
		return broken
	})
	if !errors.Is(err, broken) || content(t, path) != "old" {
		t.Errorf("%v", err)
	}
	if err := WriteFile(filepath.Join(path, "below a file"), text("x")); err == nil {
		t.Error("no error")
	}
	if found, _ := os.ReadDir(folder); len(found) != 1 {
		t.Errorf("%v", found)
	}
}

func TestWriteFileKeepsPermissionsAndLinks(t *testing.T) {
	folder := t.TempDir()
	target, link := filepath.Join(folder, "target"), filepath.Join(folder, "link")
	if err := os.WriteFile(target, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, text("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(target)
	if err != nil || info.Mode() != 0o640 || content(t, target) != "new" {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if to, err := os.Readlink(link); to != "target" {
		t.Errorf("%q %v", to, err)
	}
}

// What is no file is written to, not replaced.
func TestWriteFileToADevice(t *testing.T) {
	if err := WriteFile(os.DevNull, text("x")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("%v %v", info, err)
	}
}

// What killed processes left goes, what another one is writing stays.
func TestWriteFileSweepsLeftovers(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	old, held := filepath.Join(folder, ".file.new-1"), filepath.Join(folder, ".file.new-2")
	for _, leftover := range []string{old, held} {
		if err := os.WriteFile(leftover, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writing, err := os.Open(held) // another open file has another lock, as another process has
	if err == nil {
		err = lock(writing)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer writing.Close()
	if err := WriteFile(path, text("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old one is there: %v", err)
	}
	if _, err := os.Stat(held); err != nil {
		t.Errorf("the other process's is gone: %v", err)
	}
}

func TestWriteFolderIsAllOrNothing(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "parent")
	folder := filepath.Join(parent, "folder")
	fill := func(text string, err error) func(string) error {
		return func(to string) error {
			return errors.Join(os.WriteFile(filepath.Join(to, "file"), []byte(text), 0o644), err)
		}
	}
	broken := errors.New("broken")
	if err := WriteFolder(folder, fill("half", broken)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"first", "second"} { // who comes second finds it there
		if err := WriteFolder(folder, fill(text, nil)); err != nil || content(t, filepath.Join(folder, "file")) != "first" {
			t.Errorf("%v", err)
		}
	}
	if found, _ := os.ReadDir(parent); len(found) != 1 {
		t.Errorf("%v", found)
	}
}

// A lock is free when its file is closed; who waits is told so once, and waits no longer than
// its context.
func TestHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Hold(t.Context(), path, func() {})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	left, told := errors.New("left"), 0
	if _, err := Hold(ctx, path, func() { told++; cancel(left) }); !errors.Is(err, left) || told != 1 {
		t.Errorf("%v, told %d times", err, told)
	}
	first.Close()
	second, err := Hold(t.Context(), path, func() { t.Error("nobody has it") })
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
}
