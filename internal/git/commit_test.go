package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scratch makes a repository with one commit on branch main, and a function that runs
// git in it as its user would.
func scratch(t *testing.T) (folder string, user func(arguments ...string) string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	folder = t.TempDir()
	user = func(arguments ...string) string {
		t.Helper()
		cmd := exec.Command("git",
			append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org"}, arguments...)...)
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, output)
		}
		return strings.TrimSpace(string(output))
	}
	user("init", "--quiet", "--initial-branch=main")
	for name, mode := range map[string]os.FileMode{"sub/kept": 0o644, "sub/run me": 0o755} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("one\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("kept", filepath.Join(folder, "sub/link")); err != nil {
		t.Fatal(err)
	}
	user("add", ".")
	user("commit", "--quiet", "-m", "one")
	return folder, user
}

// state is all that a commit beside the checkout must leave alone.
func state(t *testing.T, folder string, user func(...string) string) string {
	t.Helper()
	index, err := os.ReadFile(filepath.Join(folder, ".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	return string(index) + user("rev-parse", "HEAD") + user("symbolic-ref", "HEAD") + user("status", "--porcelain")
}

func TestACommitBesideTheCheckout(t *testing.T) {
	folder, user := scratch(t)
	// Work that is neither committed nor to be touched.
	if err := os.WriteFile(filepath.Join(folder, "sub/kept"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	user("add", "sub/kept")
	before := state(t, folder, user)
	head := user("rev-parse", "HEAD")
	c := Commit{
		Onto:    head,
		Message: "Say two\n",
		Files:   []File{{"sub/run me", []byte("two\r\n")}, {"new/a\tb", []byte("new\n")}},
	}
	hash, err := c.Write(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if got := user("show", "--format=%P %s %ae %ce", "--raw", "--abbrev=4",
		hash); !strings.HasPrefix(got, head+" Say two "+botEmail+" "+botEmail) ||
		strings.Count(got, "\n:") != 2 {
		t.Errorf("the commit is %s", got)
	}
	if got := user("ls-tree", "-r", hash); !strings.Contains(got, "100755 blob") || !strings.Contains(got, `"new/a\tb"`) {
		t.Errorf("the files are %s", got)
	}
	if content, found, err := Blob(t.Context(), folder, hash, "sub/run me"); string(content) != "two\r\n" || !found ||
		err != nil {
		t.Errorf("the file is %q, %v, %v", content, found, err)
	}
	if _, found, err := Blob(t.Context(), folder, hash, "sub/none"); found || err != nil {
		t.Errorf("a file that is not there: %v, %v", found, err)
	}
	if after := state(t, folder, user); after != before {
		t.Error("the checkout has changed")
	}
	for _, name := range []string{"sub/link", "sub", "sub/kept/below", "../out", ".git/config", "/root"} {
		c.Files = []File{{name, []byte("x")}}
		if hash, err := c.Write(t.Context(), folder); err == nil {
			t.Errorf("%s was written: %s", name, user("ls-tree", "-r", hash))
		}
	}
	if after := state(t, folder, user); after != before {
		t.Error("the checkout has changed")
	}
}

func TestABranchOfSomebodyElseStays(t *testing.T) {
	folder, user := scratch(t)
	head := user("rev-parse", "HEAD")
	write := func(content string) string {
		t.Helper()
		hash, err := Commit{Onto: head, Message: "m\n", Files: []File{{"sub/kept", []byte(content)}}}.Write(t.Context(),
			folder)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	move := func(branch, commit, want string) {
		t.Helper()
		if got, err := MoveBranch(t.Context(), folder, branch, commit); err != nil || got != want {
			t.Errorf("%s is at %s, want %s: %v", branch, got, want, err)
		}
		if got := user("rev-parse", "refs/heads/"+branch); got != want {
			t.Errorf("%s is at %s, want %s", branch, got, want)
		}
	}
	refuse := func(branch, commit, reason string) {
		t.Helper()
		var refused *BranchError
		if _, err := MoveBranch(t.Context(), folder, branch, commit); !errors.As(err, &refused) ||
			!strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want %q", branch, err, reason)
		}
	}
	two, three := write("two"), write("three")
	move("pawl/kernel", two, two)
	move("pawl/kernel", three, three)
	t.Setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
	again := write("three")
	t.Setenv("GIT_COMMITTER_DATE", "")
	if again == three {
		t.Fatal("the date makes no difference")
	}
	move("pawl/kernel", again, three)
	refuse("main", two, "checked out")
	for _, name := range []string{"", "-f", "a..b", "a b", "x.lock", "@{-1}", "HEAD"} {
		refuse(name, two, "no name of a branch")
	}
	user("branch", "theirs")
	refuse("theirs", two, "is not pawl's")
	// Amended by a person, it is theirs.
	user("worktree", "add", "--quiet", filepath.Join(t.TempDir(), "w"), "pawl/kernel")
	refuse("pawl/kernel", two, "checked out")
	user("worktree", "prune")
	user("branch", "amended", user("commit-tree", "-p", head, "-m", "m", three+"^{tree}"))
	refuse("amended", two, "is not pawl's")
	if _, err := MoveBranch(t.Context(), folder, "pawl", two); err == nil {
		t.Error("a branch and a folder of branches have one name")
	}
}

// A commit is whose git works for, and signed as they sign; pawl knows its own by the files.
func TestACommitIsItsUsers(t *testing.T) {
	folder, user := scratch(t)
	if who := Who(t.Context(), folder); who != "" {
		t.Errorf("nobody is %q", who)
	}
	signer := filepath.Join(t.TempDir(), "sign")
	if err := os.WriteFile(signer, []byte("#!/bin/sh\ncat > /dev/null\n"+
		"printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'\n"+
		"echo '[GNUPG:] SIG_CREATED ' >&2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"user.name": "A Person", "user.email": "person@example.org", "commit.gpgsign": "true", "gpg.program": signer,
	} {
		user("config", key, value)
	}
	c := Commit{Onto: user("rev-parse", "HEAD"), Message: "Say two", Files: []File{{"sub/kept", []byte("two")}}}
	hash, err := c.Write(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	text := user("cat-file", "commit", hash)
	if !strings.Contains(text, "\ngpgsig ") || strings.Count(text, "A Person <person@example.org>") != 2 ||
		Who(t.Context(), folder) != "A Person <person@example.org>" {
		t.Errorf("%s", text)
	}
	theirs := user("commit-tree", "-p", c.Onto, "-m", user("show", "--no-patch", "--format=%B", hash), c.Onto+"^{tree}")
	for commit, want := range map[string]bool{hash: true, theirs: false, c.Onto: false} {
		if own, err := Own(t.Context(), folder, commit); own != want || err != nil {
			t.Errorf("%s is pawl's: %v, %v", user("show", "--no-patch", commit), own, err)
		}
	}
}
