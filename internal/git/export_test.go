package git

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/internal/kerneltest"
)

// A commit is what was pushed: neither a replacement, a graft, a filter nor another object in its place
// changes what is read of it.
func TestGitIsReadAsItWasPushed(t *testing.T) {
	folder, user := scratch(t)
	first := user("rev-parse", "HEAD")
	write := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("sub/kept", "two\n")
	user("commit", "--quiet", "-a", "-m", "two")
	second := user("rev-parse", "HEAD")
	exported := func(commit string) (string, error) {
		to := filepath.Join(t.TempDir(), "files")
		err := Export(t.Context(), folder, commit, to)
		content, _ := os.ReadFile(filepath.Join(to, "sub/kept"))
		return string(content), err
	}
	holds := func(after string) {
		t.Helper()
		if content, err := exported(first); content != "one\n" || err != nil {
			t.Errorf("%s: the first commit has %q, %v", after, content, err)
		}
		if content, _, err := Blob(t.Context(), folder, first, "sub/kept"); string(content) != "one\n" || err != nil {
			t.Errorf("%s: its file is %q, %v", after, content, err)
		}
		if parent, err := Resolve(t.Context(), folder, second+"^"); parent != first || err != nil {
			t.Errorf("%s: the second commit's parent is %s, %v", after, parent, err)
		}
		if within, err := Has(t.Context(), folder, second, first); !within || err != nil {
			t.Errorf("%s: the second commit does not follow the first: %v", after, err)
		}
	}
	holds("nothing")
	to := filepath.Join(t.TempDir(), "files")
	if err := Export(t.Context(), folder, second, to); err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(filepath.Join(to, "sub/link")); target != "kept" || err != nil {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	if info, err := os.Stat(filepath.Join(to, "sub/run me")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the program is %v, %v", info, err)
	}

	user("replace", first, second)
	if got := user("show", first+":sub/kept"); got != "two" {
		t.Fatalf("git itself does not follow the replacement: %q", got)
	}
	holds("a replaced commit")
	user("replace", "-d", first)
	user("replace", user("rev-parse", first+":sub/kept"), user("rev-parse", second+":sub/kept"))
	holds("a replaced file")
	user("replace", "-d", user("rev-parse", first+":sub/kept"))
	write(".git/info/grafts", second+"\n")
	holds("a graft")
	write(".git/info/grafts", "")

	script := filepath.Join(t.TempDir(), "filter")
	if err := kerneltest.WriteProgram(script, "#!/bin/sh\necho filtered\n"); err != nil {
		t.Fatal(err)
	}
	user("config", "filter.f.smudge", script)
	write(".git/info/attributes", "* filter=f\n")
	holds("a filter")

	// Another object under the name of the first commit's file: git itself reads it.
	path := func(id string) string { return filepath.Join(folder, ".git/objects", id[:2], id[2:]) }
	was, other := path(user("rev-parse", first+":sub/kept")), path(user("rev-parse", second+":sub/kept"))
	content, err := os.ReadFile(other)
	if err == nil {
		err = os.Remove(was)
	}
	if err == nil {
		err = os.WriteFile(was, content, 0o444)
	}
	if err != nil {
		t.Fatal(err)
	}
	if content, err := exported(first); err == nil || !strings.Contains(err.Error(), "damaged or was replaced") {
		t.Errorf("an object of another content: %q, %v", content, err)
	}
}

// What a commit names by hash comes with it where it is here: a submodule that is checked out, and a file of LFS.
func TestExportOfSubmodulesAndLFS(t *testing.T) {
	folder, user := scratch(t)
	library, _ := scratch(t)
	content := strings.Repeat("data", 500)
	sum := sha256.Sum256([]byte(content))
	id := hex.EncodeToString(sum[:])
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + id + "\nsize 2000\n"
	for name, text := range map[string]string{
		"data": pointer, "damaged": strings.Replace(pointer, id, strings.Repeat("ab", 32), 1),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{id: content, strings.Repeat("ab", 32): "something else"} {
		file := filepath.Join(folder, ".git/lfs/objects", name[:2], name[2:4], name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	user("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "library")
	user("add", ".")
	user("commit", "--quiet", "-m", "two")
	to := filepath.Join(t.TempDir(), "files")
	if err := Export(t.Context(), folder, user("rev-parse", "HEAD"), to); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"data": content, "damaged": strings.Replace(pointer, id, strings.Repeat("ab", 32), 1), "library/sub/kept": "one\n",
	} {
		if got, err := os.ReadFile(filepath.Join(to, name)); string(got) != want || err != nil {
			t.Errorf("%s: %.60q, %v", name, got, err)
		}
	}
}
