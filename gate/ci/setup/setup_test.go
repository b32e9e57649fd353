package setup

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/gate/ci"
	"pawl/gate/policy"
)

const top = "../../.."

// digits is a commit.
var digits = strings.Repeat("0123456789", 4)

func scratch(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	in(t, dir, "git", "init", "-q", "-b", "main")
	return dir
}

func in(t *testing.T, dir, name string, arguments ...string) string {
	t.Helper()
	cmd := exec.Command(name, arguments...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.com")
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, arguments, err, output)
	}
	return strings.TrimSpace(string(output))
}

func writeFile(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func state(r *Result, path string) State {
	for _, f := range r.Files {
		if f.Path == path {
			return f.State
		}
	}
	return ""
}

// Our workflows, page and template are what init writes. After a change of a template, run
// pawl ci init --force here.
func TestOursAreWhatInitWrites(t *testing.T) {
	if !ci.IsPawl(top) {
		t.Fatal("pawl's own repository is not recognized")
	}
	files, err := render(Options{}, repository{branch: "main", own: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.path == policy.FileName || f.added {
			continue // ours names our kernels
		}
		if content := read(t, top, f.path); content != string(f.content) {
			t.Errorf("%s is not what pawl ci init writes: run go run ./cmd/pawl ci init --force", f.path)
		}
	}
}

func TestInitWritesOnceAndKeepsWhatIsThere(t *testing.T) {
	dir := scratch(t)
	writeFile(t, dir, "deep/down/file", "")
	writeFile(t, dir, ".github/workflows/gate.yml", "mine\n")
	writeFile(t, dir, "gate.yaml", "my policy\n")
	writeFile(t, dir, "runner.yaml", "")
	o := Options{Folder: filepath.Join(dir, "deep", "down"), Pawl: Source{"o/pawl", digits}, Runner: "gpu"}
	first, err := Init(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]State{
		gatePath:        Kept,
		tunePath:        Written,
		templatePath:    Written,
		runnerPath:      Written,
		policy.FileName: Kept,
	} {
		if got := state(first, path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if !strings.Contains(strings.Join(first.Next, "\n"), "secret PAWL_CLOUD") {
		t.Errorf("%q", first.Next)
	}
	if read(t, dir, gatePath) != "mine\n" || read(t, dir, "gate.yaml") != "my policy\n" {
		t.Error("a file was overwritten")
	}
	if action := read(t, dir, actionPath); !strings.Contains(action, "ref: "+digits) {
		t.Errorf("%s", action)
	}
	if tune := read(t, dir, tunePath); !strings.Contains(tune, "vars.PAWL_RUNNER || 'gpu'") ||
		strings.Contains(tune, "[[") {
		t.Errorf("%s", tune)
	}
	writeFile(t, dir, templatePath, "our own words\n")
	o.Force = true
	second, err := Init(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]State{
		gatePath:        Replaced,
		tunePath:        Unchanged,
		templatePath:    Kept,
		policy.FileName: Kept,
	} {
		if got := state(second, path); got != want {
			t.Errorf("forced: %s: %s, want %s", path, got, want)
		}
	}
	if left := in(t, dir, "git", "status", "--porcelain", "--ignored", "-uall"); strings.Contains(left, ".new") {
		t.Errorf("left behind: %s", left)
	}
}

// Lines are added to what a repository has, once.
func TestInitAddsLines(t *testing.T) {
	dir := scratch(t)
	writeFile(t, dir, ".gitattributes", "*.bin binary")
	writeFile(t, dir, ".gitignore", "/tuning/\n")
	for range 2 {
		if _, err := Init(t.Context(), Options{Folder: dir, Pawl: Source{"o/pawl", digits}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, dir, ".gitattributes"); got != "*.bin binary\nresults/history.jsonl merge=union\n" {
		t.Errorf("%s", got)
	}
	if got := read(t, dir, ".gitignore"); !strings.HasPrefix(got, "/tuning/\n/results/*\n!/results/baseline.json\n") ||
		strings.Count(got, "/tuning/") != 1 {
		t.Errorf("%s", got)
	}
	// Two branches that gate are merged by git alone.
	commit := func(line string) {
		writeFile(t, dir, "results/history.jsonl", read(t, dir, "results/history.jsonl")+line+"\n")
		in(t, dir, "git", "add", ".")
		in(t, dir, "git", "commit", "-q", "-m", line)
	}
	writeFile(t, dir, "results/history.jsonl", "")
	commit("first")
	in(t, dir, "git", "checkout", "-q", "-b", "other")
	commit("theirs")
	in(t, dir, "git", "checkout", "-q", "main")
	commit("ours")
	in(t, dir, "git", "merge", "-q", "--no-edit", "other")
	if got := strings.Fields(read(t, dir, "results/history.jsonl")); len(got) != 3 {
		t.Errorf("%q", got)
	}
}

// The policy that is written can be read, whatever folders are called, and gates each kernel
// that can be loaded.
func TestThePolicyGatesWhatIsThere(t *testing.T) {
	dir := scratch(t)
	r, err := Init(t.Context(), Options{Folder: dir, Pawl: Source{"o/pawl", digits}})
	if err != nil {
		t.Fatal(err)
	}
	if f, err := policy.Read(filepath.Join(dir, "gate.yaml")); err != nil || len(f.Kernels) != 1 ||
		f.Kernels[0].Name != example {
		t.Errorf("%v, %v", f, err)
	}
	if !strings.Contains(strings.Join(r.Next, "\n"), "name your kernels") {
		t.Errorf("%q", r.Next)
	}

	dir = scratch(t)
	names := []string{"kernels/one", `odd"name: {x}`, "line\nbreak", "$(touch x)", "ünïcode"}
	for _, name := range names {
		for _, file := range []string{"kernel.yaml", "matmul.c", "reference.c"} {
			writeFile(t, dir, filepath.Join(name, file), read(t, filepath.Join(top, "kernels", "matmul"), file))
		}
	}
	writeFile(t, dir, "other/kernel.yaml", "kind: Pod\n")
	writeFile(t, dir, "ignored/kernel.yaml", read(t, filepath.Join(top, "kernels", "matmul"), "kernel.yaml"))
	writeFile(t, dir, ".gitignore", "ignored/\n")
	if r, err = Init(t.Context(), Options{Folder: dir, Pawl: Source{"o/pawl", digits}}); err != nil {
		t.Fatal(err)
	}
	f, err := policy.Read(filepath.Join(dir, "gate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var gated []string
	for _, k := range f.Kernels {
		gated = append(gated, strings.TrimPrefix(k.Name, "./"))
	}
	slices.Sort(names)
	slices.Sort(gated)
	if !slices.Equal(gated, names) {
		t.Errorf("gates %q, want %q", gated, names)
	}
	if !strings.Contains(strings.Join(r.Next, "\n"), "cannot be read: other") {
		t.Errorf("%q", r.Next)
	}
}

// Nothing is written through a link, and nothing at all where one is in the way.
func TestInitFollowsNoLink(t *testing.T) {
	for name, link := range map[string]func(t *testing.T, dir, outside string){
		"a folder":        func(t *testing.T, dir, outside string) { symlink(t, outside, filepath.Join(dir, ".github")) },
		"a folder inside": func(t *testing.T, dir, _ string) { symlink(t, ".git/hooks", filepath.Join(dir, "docs")) },
		"a file": func(t *testing.T, dir, outside string) {
			symlink(t, filepath.Join(outside, "x"), filepath.Join(dir, "gate.yaml"))
		},
		"a link to nothing": func(t *testing.T,
			dir, _ string) {
			symlink(t, "/nowhere/at/all", filepath.Join(dir, "gate.yaml"))
		},
		"a file in a folder": func(t *testing.T, dir, _ string) { writeFile(t, dir, ".github", "a file") },
		"a folder for a file": func(t *testing.T, dir, _ string) {
			writeFile(t, dir, "gate.yaml/x", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, outside := scratch(t), t.TempDir()
			writeFile(t, outside, "x", "untouched")
			link(t, dir, outside)
			before := in(t, dir, "find", ".", outside, "-not", "-path", "./.git/*")
			_, err := Init(t.Context(), Options{Folder: dir, Pawl: Source{"o/pawl", digits}, Force: true})
			if err == nil || !strings.Contains(err.Error(), "nothing was written") {
				t.Errorf("error %v", err)
			}
			if after := in(t, dir, "find", ".", outside, "-not", "-path", "./.git/*"); after != before ||
				read(t, outside, "x") != "untouched" {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

func symlink(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

func TestInitNeedsARepositoryAndASource(t *testing.T) {
	if _, err := Init(t.Context(), Options{Folder: t.TempDir(), Pawl: Source{"o/pawl", digits}}); err == nil ||
		!strings.Contains(err.Error(), "git") {
		t.Errorf("outside of a repository: %v", err)
	}
	if _, err := Init(t.Context(), Options{Folder: scratch(t)}); !errors.Is(err, ErrNoSource) {
		t.Errorf("without a source: %v", err)
	}
}

func TestMainBranch(t *testing.T) {
	dir := scratch(t)
	if got := mainBranch(t.Context(), dir); got != "main" {
		t.Errorf("nothing committed: %s", got)
	}
	in(t, dir, "git", "commit", "-q", "--allow-empty", "-m", "x")
	in(t, dir, "git", "branch", "-m", "master")
	in(t, dir, "git", "switch", "-q", "-c", "set-up")
	if got := mainBranch(t.Context(), dir); got != "master" {
		t.Errorf("on another branch: %s", got)
	}
	clone := t.TempDir()
	in(t, dir, "git", "switch", "-q", "-c", "trunk")
	in(t, clone, "git", "clone", "-q", dir, ".")
	if got := mainBranch(t.Context(), clone); got != "trunk" {
		t.Errorf("the remote's default: %s", got)
	}
}

func TestParseSource(t *testing.T) {
	for text, want := range map[string]Source{
		"o/pawl@" + digits:         {"o/pawl", digits},
		"o/pawl":                   {"o/pawl", strings.Repeat("f", 40)},
		"o/pawl@main":              {},
		"o/pawl@" + digits[:12]:    {},
		"o/pawl@":                  {},
		"o@" + digits:              {},
		"o/pawl\n@" + digits:       {},
		"o/p}}@" + digits:          {},
		"o/..@" + digits:           {},
		"-o/p@" + digits:           {},
		"o/p@" + digits + "\nx: y": {},
	} {
		if got, err := ParseSource(text, strings.Repeat("f", 40)); got != want || (err == nil) != (want != Source{}) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := ParseSource("o/pawl", ""); err == nil || !strings.Contains(err.Error(), "@COMMIT") {
		t.Errorf("%v", err)
	}
}

// A killed run leaves a temporary file; the next one takes its place.
func TestInitAfterAKill(t *testing.T) {
	dir := scratch(t)
	writeFile(t, dir, ".github/workflows/.gate.yml.new", "half")
	if _, err := Init(t.Context(), Options{Folder: dir, Pawl: Source{"o/pawl", digits}}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".github/workflows/.gate.yml.new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if !bytes.HasPrefix([]byte(read(t, dir, gatePath)), []byte("# Every change")) {
		t.Error("not written")
	}
}

func FuzzParseSource(f *testing.F) {
	f.Add("o/pawl@" + digits)
	f.Add("o/pawl")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSource(text, "")
		if err != nil {
			return
		}
		if s.Repository+"@"+s.Commit != text || strings.ContainsAny(text, " \n\t'\"${}[]#:\\") {
			t.Errorf("%q gives %v", text, s)
		}
	})
}
