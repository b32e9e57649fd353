package apply

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"pawl/internal/git"
)

// repository makes a repository of the working directory, with the kernel committed.
func repository(t *testing.T) func(arguments ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	user := func(arguments ...string) string {
		t.Helper()
		output, err := exec.Command("git",
			append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, arguments...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, output)
		}
		return strings.TrimSpace(string(output))
	}
	user("init", "--quiet", "--initial-branch=main")
	user("add", "kernels")
	user("commit", "--quiet", "-m", "one")
	return user
}

func TestACommitOnABranch(t *testing.T) {
	b := newBench(t, good)
	user := repository(t)
	write(t, "staged", "mine\n")
	user("add", "staged")
	before := user("status", "--porcelain") + user("rev-parse", "HEAD")
	made, err := mustPrepare(t, b, Options{Manifest: true}).Commit(t.Context(), Branch{Name: "pawl/scale"})
	if err != nil {
		t.Fatal(err)
	}
	if got := user("diff", "--stat=200", "main",
		"pawl/scale"); !strings.Contains(strings.Join(strings.Fields(got), " "), "kernel.yaml | 4 ++--") ||
		!strings.Contains(got, "2 files changed") {
		t.Errorf("the commit changes %s", got)
	}
	message := user("show", "--no-patch", "--format=%B", "pawl/scale")
	for _, want := range []string{"Apply the winner of study 1 to scale\n", ", 2.00× (",
		"Worth applying: faster than the default", "  BLOCK 16 → 64\n", "Pawl-Study: 1"} {
		if !strings.Contains(message, want) {
			t.Errorf("the message has no %q: %s", want, message)
		}
	}
	if after := user("status", "--porcelain") + user("rev-parse", "HEAD"); after != before ||
		read(t, b.folder+"/kernel.yaml") != manifest {
		t.Errorf("the checkout was %s and is %s", before, after)
	}
	again, err := mustPrepare(t, b, Options{Manifest: true}).Commit(t.Context(), Branch{Name: "pawl/scale"})
	if err != nil || again.Commit != made.Commit {
		t.Errorf("the same change is another commit: %v, %v", again, err)
	}
	// The new main has it: there is nothing to commit on top.
	user("reset", "--quiet", "--hard", "pawl/scale")
	if done := mustPrepare(t, b, Options{Manifest: true}); !done.Already {
		t.Errorf("the winner is applied, and this is left: %v", done.Files)
	}
}

func TestACommitNeedsWhatWasMeasured(t *testing.T) {
	b := newBench(t, good)
	c := mustPrepare(t, b, Options{Manifest: true})
	var refusal *Refusal
	if _, err := c.Commit(t.Context(), Branch{Name: "b"}); !errors.As(err, &refusal) ||
		!strings.Contains(err.Error(), "no git repository") {
		t.Errorf("got %v", err)
	}
	user := repository(t)
	write(t, b.folder+"/scale.c", "int other;\n")
	user("commit", "--quiet", "--all", "-m", "two")
	write(t, b.folder+"/scale.c", "void scale(float *y) { y[0] = 1; }\n")
	if _, err := c.Commit(t.Context(), Branch{Name: "b"}); !errors.As(err, &refusal) ||
		!strings.Contains(err.Error(), "scale.c is not in commit") {
		t.Errorf("got %v", err)
	}
	if _, err := c.Commit(t.Context(), Branch{Name: "b", Onto: "HEAD~"}); err != nil {
		t.Errorf("on the commit that was measured: %v", err)
	}
	for _, onto := range []string{"-x", "none"} {
		if _, err := c.Commit(t.Context(), Branch{Name: "c", Onto: onto}); err == nil {
			t.Errorf("onto %s", onto)
		}
	}
	var branch *git.BranchError
	if _, err := c.Commit(t.Context(), Branch{Name: "main", Onto: "HEAD~"}); !errors.As(err, &branch) {
		t.Errorf("got %v", err)
	}
	c = mustPrepare(t, b, Options{To: t.TempDir()})
	if _, err := c.Commit(t.Context(), Branch{Name: "d", Onto: "HEAD~"}); err == nil ||
		!strings.Contains(err.Error(), "is not in the repository") {
		t.Errorf("a header elsewhere: %v", err)
	}
}
