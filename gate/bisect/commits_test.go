package bisect

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"pawl/objective/devices"
)

// scratch is a repository with two kernels and a header beside them: one commit each, and
// a merge of a branch with two commits.
func scratch(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	root := t.TempDir()
	run := func(arguments ...string) {
		t.Helper()
		cmd := exec.Command("git",
			append([]string{"-C", root, "-c", "user.name=T", "-c", "user.email=t@example.com"}, arguments...)...)
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", arguments, err, output)
		}
	}
	commit := func(name, text, subject string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		run("add", ".")
		run("commit", "-q", "-m", subject)
	}
	run("init", "-q")
	commit("one [k]/kernel.yaml", "1", "first")
	run("tag", "first")
	commit("two/kernel.yaml", "1", "another kernel")
	run("checkout", "-q", "-b", "branch")
	commit("one [k]/kernel.yaml", "2", "on the branch")
	run("tag", "inside")
	commit("one [k]/kernel.yaml", "3", "on the branch, again")
	run("checkout", "-q", "-")
	commit("lib/common.h", "1", "a header")
	run("merge", "-q", "--no-ff", "-m", "the merge", "branch")
	commit("one [k]/kernel.yaml", "1", "back to the first")
	commit("lib/common.h", "2", "another header")
	run("tag", "last")
	return root
}

func subjects(commits []Commit) (all []string) {
	for _, c := range commits {
		all = append(all, c.Subject)
	}
	return all
}

// A merged branch is one commit, and those that leave the kernel as it was are left out.
func TestLineFollowsFirstParents(t *testing.T) {
	root := scratch(t)
	for _, c := range []struct {
		kernel  string
		beside  []string
		changes []string
	}{
		{"one [k]", nil, []string{"the merge", "back to the first"}},
		{"one [k]", []string{"lib"}, []string{"a header", "the merge", "back to the first", "another header"}},
		{"two", nil, []string{"another kernel"}},
		{".", nil, []string{"another kernel", "a header", "the merge", "back to the first", "another header"}},
	} {
		var beside []string
		for _, name := range c.beside {
			beside = append(beside, filepath.Join(root, name))
		}
		r, err := open(t.Context(), filepath.Join(root, c.kernel), beside)
		if err != nil {
			t.Fatal(err)
		}
		line, err := r.line(t.Context(), "first", "last")
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"first", "another kernel", "a header", "the merge", "back to the first",
			"another header"}; !slices.Equal(subjects(line), want) {
			t.Errorf("%s: %q", c.kernel, subjects(line))
		}
		if got := subjects(changes(line)); !slices.Equal(got, c.changes) {
			t.Errorf("%s beside %v changes in %q, want %q", c.kernel, c.beside, got, c.changes)
		}
		if back := line[4]; c.kernel == "one [k]" && c.beside == nil && back.content != line[0].content {
			t.Errorf("the same kernel is %q and %q", back.content, line[0].content)
		}
	}
}

// A commit's files are unpacked as they were, with what lies beside the kernel, and the
// kernel alone otherwise.
func TestExtract(t *testing.T) {
	root := scratch(t)
	r, err := open(t.Context(), filepath.Join(root, "one [k]"), []string{filepath.Join(root, "lib")})
	if err != nil {
		t.Fatal(err)
	}
	line, err := r.line(t.Context(), "first", "last")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	kernel, err := r.extract(t.Context(), line[3], folder)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(kernel, "kernel.yaml"))
	header, headerErr := os.ReadFile(filepath.Join(kernel, "../lib/common.h"))
	if err != nil || headerErr != nil || string(manifest) != "3" || string(header) != "1" {
		t.Errorf("%q, %q (%v, %v)", manifest, header, err, headerErr)
	}
	if _, err := os.Stat(filepath.Join(folder, "two")); err == nil {
		t.Error("another kernel was unpacked")
	}
	// The first commit does not have what lies beside, yet.
	if kernel, err = r.extract(t.Context(), line[0], t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(kernel, "../lib")); err == nil {
		t.Error("the first commit has a header")
	}
}

// A kernel may be the whole repository, and pawl may run from a hook of another one.
func TestExtractRoot(t *testing.T) {
	root := scratch(t)
	t.Setenv("GIT_DIR", ".git")
	t.Setenv("GIT_INDEX_FILE", filepath.Join(t.TempDir(), "index"))
	r, err := open(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	line, err := r.line(t.Context(), "first", "last")
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := r.extract(t.Context(), line[5], t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"one [k]/kernel.yaml": "1", "two/kernel.yaml": "1", "lib/common.h": "2"} {
		if content, err := os.ReadFile(filepath.Join(kernel, name)); err != nil || string(content) != want {
			t.Errorf("%s: %q (%v)", name, content, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	root := scratch(t)
	r, err := open(t.Context(), filepath.Join(root, "two"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, ends := range [][2]string{
		{"", "last"},
		{"-q", "last"},
		{"first", "--all"},
		{"nowhere", "last"},
		{"last", "first"},
		{"first", "first"},
		{"inside", "last"},
		{"first", "last:two"},
	} {
		if _, err := r.line(t.Context(), ends[0], ends[1]); !errors.As(err, new(*devices.ArgumentError)) {
			t.Errorf("%q: %v", ends, err)
		}
	}
	for _, folder := range []string{filepath.Join(root, "none"), filepath.Join(root, "two/kernel.yaml"), t.TempDir()} {
		if _, err := open(t.Context(), folder, nil); !errors.As(err, new(*devices.ArgumentError)) {
			t.Errorf("%s: %v", folder, err)
		}
	}
	if _, err := open(t.Context(), filepath.Join(root, "two"),
		[]string{t.TempDir()}); !errors.As(err, new(*devices.ArgumentError)) {
		t.Errorf("outside: %v", err)
	}
}
