package ci

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const manifest = `name: k
entry: k
source: {host: k.c}
reference: {host: reference.c}
flags: [-O1, -I../flagged]
params:
  B: {values: [1, 2], default: 1}
workloads:
  small: {N: 10}
  large: {N: 20}
args:
  - {name: x, type: f32, shape: [N]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
fuzz: {N: [1]}
tolerance: {atol: 1e-6, rtol: 1e-6}
`

// kernelRepository has a gated kernel that includes files from three places, one that is
// not gated, and the usual rest.
func kernelRepository(t *testing.T) *scratch {
	t.Helper()
	s := start(t)
	for name, text := range map[string]string{
		"gate.yaml": "kernels: [{kernel: ./k}]\n", "runner.yaml": "x", "README.md": "text", "app/main.c": "int main;",
		"k/kernel.yaml": manifest, "k/k.c": "#include \"near.h\"\n#include \"../lib/far.h\"\n#include <flagged.h>\n",
		"k/near.h": "//", "k/reference.c": "//",
		"k/notes.txt": "text", "k/unused.h": "//",
		"lib/far.h": "#include \"deep.h\"\n", "lib/deep.h": "//", "lib/other.h": "//", "flagged/flagged.h": "//",
		"other/kernel.yaml": manifest, "other/k.c": "//", "other/reference.c": "//",
		".github/workflows/gate.yml": "on: push\n",
	} {
		s.write(name, text)
	}
	s.git(s.work, "add", "--force", ".")
	s.git(s.work, "commit", "--quiet", "-m", "kernels")
	s.git(s.work, "tag", "base")
	return s
}

func question() Question {
	return Question{Policy: "gate.yaml", Baseline: "results/baseline.json", Runner: "runner.yaml", Base: "base"}
}

// commit makes a change on a branch of its own.
func (s *scratch) commit(change func()) {
	s.Helper()
	s.git(s.work, "checkout", "--quiet", "-B", "branch", "base")
	s.git(s.work, "clean", "--quiet", "-fdx")
	change()
	s.git(s.work, "add", "--force", ".")
	s.git(s.work, "commit", "--quiet", "--allow-empty", "-m", "change")
}

func TestShouldRun(t *testing.T) {
	s := kernelRepository(t)
	edit := func(name string) func() { return func() { s.write(name, "//changed\n") } }
	remove := func(names ...string) func() {
		return func() { s.git(s.work, append([]string{"rm", "--quiet", "--"}, names...)...) }
	}
	for _, c := range []struct {
		name   string
		change func()
		why    string // empty: nothing to run
	}{
		{"nothing", func() {}, ""},
		{"a page", edit("README.md"), ""},
		{"notes in the kernel's folder", edit("k/notes.txt"), ""},
		{"a header that nobody includes", edit("k/unused.h"), ""},
		{"another header of the library", edit("lib/other.h"), ""},
		{"another kernel", edit("other/k.c"), ""},
		{"the application", edit("app/main.c"), ""},
		{"a new page", edit("docs/new.md"), ""},
		{"its notes gone", remove("k/notes.txt"), ""},
		{"the manifest", func() { s.write("k/kernel.yaml", manifest+"# more\n") }, "k/kernel.yaml: kernel ./k is made of it"},
		{"the source", edit("k/k.c"), "k/k.c: kernel ./k"},
		{"the reference", edit("k/reference.c"), "k/reference.c: kernel ./k"},
		{"a header beside it", edit("k/near.h"), "k/near.h: kernel ./k"},
		{"a header elsewhere", edit("lib/far.h"), "lib/far.h: kernel ./k"},
		{"a header of that header", edit("lib/deep.h"), "lib/deep.h: kernel ./k"},
		{"a header by a flag", edit("flagged/flagged.h"), "flagged/flagged.h: kernel ./k"},
		{"a header that now comes first", edit("k/flagged.h"), "k/flagged.h: kernel ./k"},
		{"a header is gone", remove("lib/deep.h"), "lib/deep.h: it is gone, and a kernel names"},
		{"an unused one is gone from its folder", remove("k/unused.h"), "it is gone from the folder of a kernel"},
		{"a header was renamed", func() { s.git(s.work, "mv", "lib/far.h", "lib/near.h") }, "lib/far.h: it is gone"},
		{"the source is gone", remove("k/k.c"), "it cannot be known what the change touches"},
		{"the kernel is gone", remove("k/k.c", "k/kernel.yaml"), "it cannot be known what the change touches"},
		{"the policy", func() { s.write("gate.yaml", "kernels: [{kernel: ./other}]\n") }, "it is the policy"},
		{"a broken policy", edit("gate.yaml"), "it cannot be known"},
		{"the baseline", edit("results/baseline.json"), "it is the baseline"},
		{"the baseline is gone", remove("results/baseline.json"), "it is the baseline"},
		{"a workflow", edit(".github/workflows/gate.yml"), "part of how the gate runs"},
		{"a workflow is gone", remove(".github/workflows/gate.yml"), "part of how the gate runs"},
		{"the runner", edit("runner.yaml"), "where the gate runs"},
		{"attributes", edit("lib/.gitattributes"), "checked out"},
		{"a macro names the include", func() {
			s.write("k/k.c", "#include NAME\n")
			s.write("app/main.c", "//changed")
		}, "app/main.c: a macro names"},
		{"a link", func() {
			s.git(s.work, "rm", "--quiet", "app/main.c")
			if err := os.MkdirAll(filepath.Join(s.work, "app"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("../lib/far.h", filepath.Join(s.work, "app/main.c")); err != nil {
				t.Fatal(err)
			}
		}, "a link"},
		{"a hostile name", edit("k/\nnear.h \"'$(touch x).md"), ""},
	} {
		s.commit(c.change)
		got := ShouldRun(t.Context(), question())
		if got.Run != (c.why != "") || !strings.Contains(strings.Join(got.Why, "\n"), c.why) {
			t.Errorf("%s: %+v, want %q", c.name, got, c.why)
		}
	}
}

// A push that brings a moved baseline, and nothing else, is worth no run: a run would move the
// history, and so on. A pull request that touches the baseline is.
func TestBaselineStartsNoLoop(t *testing.T) {
	s := kernelRepository(t)
	s.git(s.work, "push", "--quiet", "origin", "HEAD:main")
	s.move("a", 1)
	s.happened(2, "faster")
	published, err := publication().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.git(s.work, "reset", "--quiet", "--hard", published.Commit)
	q := question()
	for _, push := range []bool{true, false} {
		if q.Push = push; ShouldRun(t.Context(), q).Run == push {
			t.Errorf("push %v: %+v", push, ShouldRun(t.Context(), q))
		}
	}
	s.write("k/k.c", "//changed")
	s.git(s.work, "commit", "--quiet", "-a", "-m", "and a kernel")
	if q.Push = true; !ShouldRun(t.Context(), q).Run {
		t.Error("the kernel is worth a run")
	}
}

// Where the change began is not known, or not what it seems: the gate runs.
func TestShouldRunInDoubt(t *testing.T) {
	s := kernelRepository(t)
	s.commit(func() { s.write("README.md", "changed") })
	first := s.git(s.work, "rev-parse", "base")
	event := func(text string) Question {
		path := filepath.Join(t.TempDir(), "event.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		q := question()
		q.Base, q.Event = "", path
		return q
	}
	with := func(change func(*Question)) Question {
		q := question()
		change(&q)
		return q
	}
	for _, c := range []struct {
		name string
		q    Question
		run  bool
	}{
		{"known", question(), false},
		{"a push", event(`{"before": "` + first + `"}`), false},
		{"a pull request", event(`{"pull_request": {"base": {"sha": "` + first + `"}}}`), false},
		{"a new branch", event(`{"before": "0000000000000000000000000000000000000000"}`), true},
		{"a schedule", event(`{"schedule": "17 3 * * 1"}`), true},
		{"a commit that is not here", event(`{"before": "1234567890123456789012345678901234567890"}`), true},
		{"an option", event(`{"before": "--all"}`), true},
		{"no event", with(func(q *Question) { q.Base = "" }), true},
		{"no such file", with(func(q *Question) { q.Base, q.Event = "", "nowhere" }), true},
		{"broken event", event(`{`), true},
		{"an option as base", with(func(q *Question) { q.Base = "--all" }), true},
		{"no such base", with(func(q *Question) { q.Base = "nowhere" }), true},
		{"no such branch", with(func(q *Question) { q.Base, q.Target = "", "nowhere" }), true},
		{"no policy", with(func(q *Question) { q.Policy = "" }), true},
	} {
		if got := ShouldRun(t.Context(), c.q); got.Run != c.run || len(got.Why) == 0 {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	// The branch that a pull request is for counts from where this one left it.
	s.git(s.work, "push", "--quiet", "origin", "base:refs/heads/target")
	s.git(s.work, "fetch", "--quiet", "origin")
	if got := ShouldRun(t.Context(), with(func(q *Question) { q.Base, q.Target = "", "target" })); got.Run {
		t.Errorf("%+v", got)
	}
	t.Chdir(t.TempDir())
	if got := ShouldRun(t.Context(), question()); !got.Run {
		t.Errorf("outside of any repository: %+v", got)
	}
}

// In pawl's own repository pawl itself counts, and the embedded kernels that are gated.
func TestShouldRunInPawl(t *testing.T) {
	s := kernelRepository(t)
	s.write("go.mod", "module pawl\n\ngo 1.25\n")
	s.write("gate.yaml", "kernels: [{kernel: matmul}]\n")
	for _, kernel := range []string{"matmul", "attention"} {
		s.write("kernels/"+kernel+"/kernel.yaml", manifest)
		s.write("kernels/"+kernel+"/k.c", "//")
		s.write("kernels/"+kernel+"/reference.c", "//")
	}
	for _, name := range []string{"gate/x.go", "gate/x_test.go", "gate/testdata/x.go", "docs/x.md",
		"gate/ci/setup/template.yml", ".ci/run"} {
		s.write(name, "x")
	}
	s.git(s.work, "add", "--force", ".")
	s.git(s.work, "commit", "--quiet", "-m", "pawl")
	s.git(s.work, "tag", "--force", "base")
	for name, run := range map[string]bool{
		"gate/x.go": true, "gate/x_test.go": false, "gate/testdata/x.go": false, "docs/x.md": false,
		"gate/ci/setup/template.yml": true, ".ci/run": false,
		"kernels/matmul/k.c": true, "kernels/attention/k.c": false, "results/history.jsonl": false, "go.sum": true,
		"README.md": false,
	} {
		s.commit(func() { s.write(name, "//changed") })
		if got := ShouldRun(t.Context(), question()); got.Run != run {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// Elsewhere an embedded kernel is in pawl, whose version stands in the workflow.
	s.commit(func() { s.write("go.mod", "module another\n") })
	s.git(s.work, "tag", "--force", "base")
	s.commit(func() { s.write("kernels/matmul/k.c", "//changed") })
	if got := ShouldRun(t.Context(), question()); got.Run {
		t.Errorf("another repository: %+v", got)
	}
}
