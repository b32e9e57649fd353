package cache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func opened(t *testing.T) *Cache {
	t.Helper()
	c, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(content string) func(string) error {
	return func(path string) error { return os.WriteFile(path, []byte(content), 0o644) }
}

func TestGetCreatesOnce(t *testing.T) {
	c := opened(t)
	key := func() *Key { return NewKey().Add("source", "x") }
	first, err := c.Get(key(), write("artifact"))
	if err != nil || first.Hit {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := c.Get(key(), func(string) error { return errors.New("must not be called") })
	if err != nil || !second.Hit || second.Digest != first.Digest {
		t.Fatalf("%+v, %v", second, err)
	}
	if content, _ := os.ReadFile(second.Path); string(content) != "artifact" {
		t.Errorf("content %q", content)
	}
}

func TestFilesBesideTheArtifactAreKeptWithIt(t *testing.T) {
	c := opened(t)
	for range 2 {
		entry, err := c.Get(NewKey().Add("k", "v"), func(path string) error {
			if err := os.WriteFile(filepath.Join(filepath.Dir(path), "beside"), []byte("note"), 0o644); err != nil {
				return err
			}
			return os.WriteFile(path, []byte("artifact"), 0o644)
		})
		if err != nil {
			t.Fatal(err)
		}
		if note, err := os.ReadFile(filepath.Join(filepath.Dir(entry.Path), "beside")); err != nil || string(note) != "note" {
			t.Errorf("%q, %v", note, err)
		}
	}
}

func TestKeysAreFramed(t *testing.T) {
	if NewKey().Add("a", "bc").Add("d", "").String() == NewKey().Add("a", "b").Add("d", "c").String() {
		t.Error("a byte moved between parts and the key stayed")
	}
}

func TestDamagedEntriesAreMadeAgain(t *testing.T) {
	for name, damage := range map[string]func(place string) error{
		"truncated":   func(p string) error { return os.Truncate(filepath.Join(p, artifactName), 3) },
		"no digest":   func(p string) error { return os.Remove(filepath.Join(p, digestName)) },
		"no artifact": func(p string) error { return os.Remove(filepath.Join(p, artifactName)) },
		"flipped": func(p string) error {
			return os.WriteFile(filepath.Join(p, artifactName), []byte("artifacT"), 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := opened(t)
			first, err := c.Get(NewKey().Add("k", "v"), write("artifact"))
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(filepath.Dir(first.Path)); err != nil {
				t.Fatal(err)
			}
			again, err := c.Get(NewKey().Add("k", "v"), write("artifact"))
			if err != nil || again.Hit {
				t.Fatalf("%+v, %v", again, err)
			}
			if content, _ := os.ReadFile(again.Path); string(content) != "artifact" {
				t.Errorf("content %q", content)
			}
		})
	}
}

func TestFailureKeepsNothing(t *testing.T) {
	c := opened(t)
	failure := errors.New("compiler said no")
	if _, err := c.Get(NewKey(), func(path string) error {
		_ = os.WriteFile(path, []byte("half"), 0o644)
		return failure
	}); !errors.Is(err, failure) {
		t.Fatalf("got %v", err)
	}
	if entry, err := c.Get(NewKey(), write("whole")); err != nil || entry.Hit {
		t.Fatalf("%+v, %v", entry, err)
	}
	if left, _ := filepath.Glob(filepath.Join(c.Dir(), "making-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Two caches on one folder stand for two processes: they share no lock.
func TestConcurrentUse(t *testing.T) {
	dir := t.TempDir()
	var caches []*Cache
	for range 4 {
		c, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		caches = append(caches, c)
	}
	var wg sync.WaitGroup
	var created atomic.Int64
	for i := range 200 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			content := fmt.Sprintf("artifact %d", i%10)
			entry, err := caches[i%4].Get(NewKey().Add("n", content), func(path string) error {
				created.Add(1)
				return os.WriteFile(path, []byte(content), 0o644)
			})
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := os.ReadFile(entry.Path); err != nil || string(got) != content {
				t.Errorf("got %q, %v", got, err)
			}
		}()
	}
	wg.Wait()
	if n := created.Load(); n < 10 || n > 40 {
		t.Errorf("created %d times, want 10 to 40: each key at most once per process", n)
	}
}

func TestPrune(t *testing.T) {
	c := opened(t)
	var paths []string
	for i := range 4 {
		entry, err := c.Get(NewKey().Add("n", fmt.Sprint(i)), write("0123456789"))
		if err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(filepath.Dir(entry.Path), old, old); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, entry.Path)
	}
	if err := c.Prune(150); err != nil { // two entries of 10 bytes, with digests of 64
		t.Fatal(err)
	}
	for i, path := range paths {
		_, err := os.Stat(path)
		if kept := err == nil; kept != (i >= 2) {
			t.Errorf("entry %d kept: %t", i, kept)
		}
	}
}

// What others keep below the cache counts, and goes when it was not used for a day.
func TestPruneSeesOtherFolders(t *testing.T) {
	c := opened(t)
	for name, age := range map[string]time.Duration{"old": 48 * time.Hour, "used": time.Hour} {
		folder := filepath.Join(c.Dir(), "kernels", name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "kernel.c"), []byte("0123456789"), 0o644); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(folder, then, then); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Prune(5); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(c.Dir(), "kernels", "*")); len(left) != 1 ||
		filepath.Base(left[0]) != "used" {
		t.Errorf("left: %v", left)
	}
}

// Entries permit what the cache's folder permits, whatever the umask of who made them.
func TestEntriesHaveThePermissionsOfTheCache(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := c.Get(NewKey(), func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) })
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{entry.Path: 0o666, filepath.Dir(entry.Path): 0o777,
		filepath.Dir(filepath.Dir(entry.Path)): 0o777} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, want %v (%v)", path, info.Mode().Perm(), want, err)
		}
	}
}

// A cache that is removed while it is used is made again.
func TestRemovedFolderIsMadeAgain(t *testing.T) {
	c := opened(t)
	if err := os.RemoveAll(c.Dir()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(NewKey(), write("artifact")); err != nil {
		t.Error(err)
	}
}
