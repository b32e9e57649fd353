package cache

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A folder that somebody has made for themselves stops nobody else, who has one beside it.
func TestAClosedFolderIsLeftAlone(t *testing.T) {
	parent := t.TempDir()
	closed := filepath.Join(parent, "cache")
	for path, mode := range map[string]os.FileMode{filepath.Dir(parent): 0o755, parent: 0o777} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(closed, 0o500); err != nil { // as umask 077 makes it, of another user
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		runtime.LockOSThread() // the rights are those of the thread
		defer runtime.UnlockOSThread()
		if err := unix.Setfsuid(65534); err != nil {
			t.Fatal(err)
		}
		defer unix.Setfsuid(0)
	}
	c, err := Open(closed)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%s-%d", closed, os.Getuid()); c.Dir() != want {
		t.Errorf("it is in %s, want %s", c.Dir(), want)
	}
	if _, err := c.Get(NewKey(), write("artifact")); err != nil {
		t.Error(err)
	}
}
