package ci

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl/gate/baseline"
	"pawl/objective/devices"
)

// TestMain lets the test binary publish by itself, to be killed in the middle.
func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // or every process sleeps a second before it ends
	if os.Getenv("PAWL_TEST_PUBLISH") != "" {
		if _, err := publication().Run(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// The commit has the two files and nothing else, whatever lies in the checkout and in its
// index, and both stay as they are. Once more, there is nothing to do.
func TestBaselineGetsACommitOfItsOwn(t *testing.T) {
	s := start(t)
	s.move("a", 1, "c", 4)
	s.happened(2, "faster")
	s.write("kernels/k.c", "changed")
	s.write("staged.c", "staged")
	s.write("untracked.c", "untracked")
	s.write("results/baseline.json.secret", "ignored")
	s.git(s.work, "add", "staged.c")
	before := s.git(s.work, "status", "--porcelain", "--branch")
	p, err := publication().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if head := s.git(s.remote, "rev-parse", "main"); p.Commit != head || p.Attempts != 1 || len(p.Moved) != 2 ||
		p.Events != 1 {
		t.Errorf("%+v, and main is %s", p, head)
	}
	if got := s.git(s.remote, "diff-tree", "-r", "--name-only", "--no-commit-id", "main"); got !=
		"results/baseline.json\nresults/history.jsonl" {
		t.Errorf("it has %q", got)
	}
	if after := s.git(s.work, "status", "--porcelain", "--branch"); strings.Split(after, "\n")[1] !=
		strings.Split(before, "\n")[1] {
		t.Errorf("the checkout was\n%s\nand is\n%s", before, after)
	}
	want := `Move 2 entries of the baseline

- a, small, f32 on D: 2 ms to 1 ms
- c, small, f32 on D: new, 4 ms

1 line added to the history.`
	got := s.git(s.remote, "log", "-1", "--format=%B", "main")
	if !strings.HasPrefix(got, want+"\n\nPawl-Tree: ") {
		t.Errorf("the commit says\n%s\nwant\n%s", got, want)
	}
	if got := s.git(s.remote, "log", "-1", "--format=%an", "main"); got != "github-actions[bot]" {
		t.Errorf("it is by %s", got)
	}
	if p, err := publication().Run(t.Context()); err != nil || p.Commit != "" || s.commits() != 2 {
		t.Errorf("once more: %+v, %v, %d commits", p, err, s.commits())
	}
}

// What a run has not come to is gated with the next push: nothing says that its commit was gated.
func TestAnUnfinishedRunIsNotPublished(t *testing.T) {
	s := start(t)
	s.happened(2, "one of two")
	s.write("results/ratchet_report.json", `{"planned": 2, "results": [{"verdict": "new", "kernel": "a"}]}`)
	if _, err := publication().Run(t.Context()); err == nil || !strings.Contains(err.Error(), "1 of 2 configurations") ||
		s.commits() != 1 {
		t.Errorf("%v", err)
	}
}

// A run that has compared and moved nothing still has a history to tell; one that has not
// even that has nothing to say.
func TestNothingMoved(t *testing.T) {
	s := start(t)
	if p, err := publication().Run(t.Context()); err != nil || p.Commit != "" || s.commits() != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	s.happened(2, "slower: refused")
	p, err := publication().Run(t.Context())
	if err != nil || p.Commit == "" || len(p.Moved) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if got := s.git(s.remote, "log", "-1", "--format=%s", "main"); got != "Add 1 line to the history" {
		t.Error(got)
	}
	if got := s.git(s.remote, "diff-tree", "-r", "--name-only", "--no-commit-id", "main"); got != "results/history.jsonl" {
		t.Errorf("it has %q", got)
	}
}

// The branch moves after it was fetched: both sides' entries and lines are there in the end.
func TestMainMovesMeanwhile(t *testing.T) {
	s := start(t)
	s.move("a", 1)
	s.happened(3, "ours")
	rival := s.rival(2, "b", 2.5)
	done := filepath.Join(t.TempDir(), "done")
	s.program(fmt.Sprintf(`[ "$command" != push ] || [ -e %s ] || { touch %s; $real -C %s push --quiet origin main; }`,
		done, done, rival))
	var said []string
	p := publication()
	p.Say = func(text string) { said = append(said, text) }
	published, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if m := s.medians(); published.Attempts != 2 || m["a"] != 1 || m["b"] != 2.5 || s.commits() != 3 {
		t.Errorf("%+v, %v, %d commits", published, m, s.commits())
	}
	if got := s.reasons(); !slices.Equal(got, []string{"first", "rival", "ours"}) {
		t.Errorf("the history is %q", got)
	}
	if len(said) != 1 || !strings.Contains(said[0], "main has moved meanwhile") {
		t.Errorf("%q", said)
	}
}

// The remote itself finds that the branch has moved, with the push half done.
func TestMainMovesInsideThePush(t *testing.T) {
	s := start(t)
	s.move("a", 1)
	rival := s.rival(2, "a", 0.5)
	s.git(rival, "push", "--quiet", "origin", "main:other")
	commit := s.git(s.remote, "rev-parse", "other")
	s.hook("pre-receive", "unset GIT_QUARANTINE_PATH\ngit update-ref refs/heads/main "+commit)
	published, err := publication().Run(t.Context())
	// Both moved the same entry, and the rival's is better: nothing of ours is left to push.
	if m := s.medians(); err != nil || m["a"] != 0.5 || published.Commit != "" || published.Attempts != 2 ||
		s.commits() != 2 {
		t.Errorf("%+v, %v, %v", published, err, m)
	}
}

// An entry that a person takes out while a run goes on stays out, unless the run moved it.
func TestWhatAPersonTookOutStaysOut(t *testing.T) {
	s := start(t)
	s.move("a", 1)
	rival := s.clone("person")
	f, err := baseline.Read(filepath.Join(rival, "results/baseline.json"))
	if err != nil {
		t.Fatal(err)
	}
	f.Entries = nil
	if err := f.WriteResults(filepath.Join(rival, "results/baseline.json")); err != nil {
		t.Fatal(err)
	}
	s.git(rival, "commit", "--quiet", "-a", "-m", "take both out")
	s.git(rival, "push", "--quiet", "origin", "main")
	if _, err := publication().Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m := s.medians(); len(m) != 1 || m["a"] != 1 {
		t.Errorf("%v", m)
	}
}

// A remote that takes a push and forgets it is found out, and not for ever.
func TestRemoteLies(t *testing.T) {
	s := start(t)
	s.move("a", 1)
	old := s.git(s.remote, "rev-parse", "main")
	s.hook("post-receive", "git update-ref refs/heads/main "+old)
	p, tries := publication(), 0
	p.Attempts, p.Say = 3, func(string) { tries++ }
	_, err := p.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "accepted the push, and does not have it") ||
		!strings.Contains(err.Error(), "given up after 3 attempts") || tries != 2 {
		t.Errorf("%v after %d", err, tries+1)
	}
	if errors.As(err, new(*devices.ArgumentError)) {
		t.Error("that is no mistake on the command line")
	}
}

// A branch that may not be pushed to is not tried again.
func TestProtectedBranch(t *testing.T) {
	s := start(t)
	s.move("a", 1)
	s.hook("pre-receive", "echo 'GH006: Protected branch update failed' >&2\nexit 1")
	p := publication()
	p.Say = func(text string) { t.Errorf("tried again: %s", text) }
	_, err := p.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "does not let this token move main") ||
		!strings.Contains(err.Error(), "Exempt the branch") {
		t.Errorf("%v", err)
	}
}

// A remote that cannot be reached is tried again, and then named.
func TestRemoteIsGone(t *testing.T) {
	s := start(t)
	s.move("a", 1)
	if err := os.RemoveAll(s.remote); err != nil {
		t.Fatal(err)
	}
	p := publication()
	p.Attempts = 2
	if _, err := p.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "given up after 2 attempts") {
		t.Errorf("%v", err)
	}
}

// A call that never ends is ended.
func TestRemoteHangs(t *testing.T) {
	s := start(t)
	s.move("a", 1)
	s.program(`[ "$command" != fetch ] || exec sleep 600`)
	p := publication()
	p.Attempts, p.Patience = 2, 50*time.Millisecond
	if _, err := p.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "git fetch") {
		t.Errorf("%v", err)
	}
}

// Killed before the push, nothing has happened; killed after it, all has. A second run ends
// either way with one commit.
func TestKilledAroundThePush(t *testing.T) {
	for name, script := range map[string]string{
		"before the push": `[ "$command" != push ] || kill -9 $PPID`,
		"after the push":  `[ "$command" != push ] || { $real "$@" >/dev/null 2>&1; kill -9 $PPID; }`,
		"in the commit":   `[ "$command" != commit-tree ] || kill -9 $PPID`,
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.move("a", 1)
			s.happened(2, "ours")
			path := os.Getenv("PATH")
			s.program(script)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "PAWL_TEST_PUBLISH=1", "TMPDIR="+t.TempDir()) // where what is killed leaves its index
			if output, err := cmd.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
				t.Fatalf("%v: %s", err, output)
			}
			t.Setenv("PATH", path)
			if _, err := publication().Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if m := s.medians(); m["a"] != 1 || s.commits() != 2 || !slices.Equal(s.reasons(), []string{"first", "ours"}) {
				t.Errorf("%v, %d commits, %q", m, s.commits(), s.reasons())
			}
		})
	}
}

// Several jobs at the same time, each with an entry of its own: all arrive.
func TestManyPublishAtOnce(t *testing.T) {
	s := start(t)
	names := []string{"w", "x", "y", "z"}
	var group sync.WaitGroup
	for i, name := range names {
		other := &scratch{t, s.remote, s.clone(name)}
		other.move(name, i+1)
		other.happened(10+i, name)
		cmd := exec.Command(os.Args[0])
		cmd.Dir, cmd.Env = other.work, append(os.Environ(), "PAWL_TEST_PUBLISH=1")
		group.Go(func() {
			if output, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", name, err, output)
			}
		})
	}
	group.Wait()
	if m := s.medians(); len(m) != 6 || m["w"] != 1 || m["z"] != 4 {
		t.Errorf("%v", m)
	}
	if got := s.reasons(); !slices.Equal(got, append([]string{"first"}, names...)) {
		t.Errorf("the history is %q", got)
	}
}

// What must not get to main does not.
func TestPublicationRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(*scratch) Publication
		want    string
	}{
		{"another branch", func(s *scratch) Publication {
			s.git(s.work, "checkout", "--quiet", "-b", "branch")
			s.git(s.work, "commit", "--quiet", "--allow-empty", "-m", "not on main")
			return publication()
		}, "is no part of main"},
		{"no such branch", func(*scratch) Publication {
			p := publication()
			p.Branch = "trunk"
			return p
		}, "has no branch trunk"},
		{"an option for a branch", func(*scratch) Publication {
			p := publication()
			p.Branch = "main:refs/heads/other"
			return p
		}, "is no name of a branch"},
		{"outside", func(*scratch) Publication {
			p := publication()
			p.Baseline = "../baseline.json"
			return p
		}, "is not in the repository"},
		{"a damaged file", func(s *scratch) Publication {
			s.write("results/baseline.json", "{")
			return publication()
		}, "it is not JSON"},
		{"a damaged file on main", func(s *scratch) Publication {
			other := &scratch{s.T, s.remote, s.clone("other")}
			other.write("results/baseline.json", "{")
			s.git(other.work, "commit", "--quiet", "-a", "-m", "damage")
			s.git(other.work, "push", "--quiet", "origin", "main")
			return publication()
		}, "it is not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t)
			s.move("a", 1)
			p := c.prepare(s)
			before := s.git(s.remote, "rev-parse", "main")
			if _, err := p.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if s.git(s.remote, "rev-parse", "main") != before {
				t.Error("main has moved")
			}
		})
	}
}

// A clone with one commit knows enough.
func TestShallowClone(t *testing.T) {
	s := start(t)
	s.git(s.work, "commit", "--quiet", "--allow-empty", "-m", "second")
	s.git(s.work, "push", "--quiet", "origin", "main")
	shallow := filepath.Join(t.TempDir(), "shallow")
	s.git(s.work, "clone", "--quiet", "--depth", "1", "file://"+s.remote, shallow)
	other := &scratch{t, s.remote, shallow}
	other.move("a", 1)
	rival := s.rival(2, "b", 2)
	s.git(rival, "push", "--quiet", "origin", "main")
	t.Chdir(shallow)
	if _, err := publication().Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m := s.medians(); m["a"] != 1 || m["b"] != 2 {
		t.Errorf("%v", m)
	}
}
