package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/reporting"
	"pawl/internal/executable"
	"pawl/internal/githubtest"
)

// scratch is a repository with kernels and this repository's own workflows, a bare remote
// and GitHub before it, and a person who works on it.
type scratch struct {
	t      *testing.T
	server *githubtest.Server
	host   *actionsHost
	// remote is bare; desk is the person's clone; tools has programs that steps find first.
	remote, desk, tools string
	// workflows is the folder of those that are played.
	workflows string
	env       []string
}

// newScratch makes the repository and pushes nothing yet. Workflow steps find pawl where
// they build it: go is a script that puts this test binary there.
func newScratch(t *testing.T) *scratch {
	t.Helper()
	for _, tool := range []string{"git", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s", tool)
		}
	}
	if runtime.GOOS != "linux" {
		t.Skip("the workflows run on Linux")
	}
	folder := t.TempDir()
	s := &scratch{
		t:         t,
		remote:    filepath.Join(folder, "remote.git"),
		desk:      filepath.Join(folder, "desk"),
		tools:     filepath.Join(folder, "tools"),
		workflows: "../../.github/workflows",
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "CC=" + os.Getenv("CC"), "GORACE=" + os.Getenv("GORACE"), "TMPDIR=" + t.TempDir(),
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"PAWL_UNDER_TEST=" + self,
	}
	s.program("go", `# go build -o FOLDER/ ./cmd/pawl
[ "$1 $2 $4" = "build -o ./cmd/pawl" ] || { echo "not expected: go $*" >&2; exit 1; }
mkdir -p "$3" && ln -sf "$PAWL_UNDER_TEST" "${3%/}/pawl"`)
	s.git(folder, "init", "--quiet", "--bare", "-b", "main", s.remote)
	s.git(s.remote, "config", "uploadpack.allowAnySHA1InWant", "true")
	s.git(folder, "clone", "--quiet", s.remote, s.desk)
	s.git(s.desk, "checkout", "--quiet", "-b", "main")
	s.server = githubtest.New("someone/kernels", s.remote)
	t.Cleanup(s.server.Close)
	s.host = &actionsHost{
		Server: s.server,
		Remote: s.remote,
		Folder: filepath.Join(folder, "actions"),
		Tools:  s.tools,
		Env:    s.env,
		Log:    func(line string) { t.Log(line) },
	}
	return s
}

func (s *scratch) write(path, content string) {
	s.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		s.t.Fatal(err)
	}
}

// program writes a shell script that steps find before all other programs.
func (s *scratch) program(name, lines string) {
	s.t.Helper()
	path := filepath.Join(s.tools, name)
	if err := errors.Join(os.MkdirAll(s.tools, 0o755), executable.Write(path, "#!/bin/sh\n"+lines+"\n")); err != nil {
		s.t.Fatal(err)
	}
}

// file writes one of the person's files.
func (s *scratch) file(name, content string) { s.write(filepath.Join(s.desk, name), content) }

func (s *scratch) git(folder string, arguments ...string) string {
	s.t.Helper()
	cmd := exec.Command("git",
		append([]string{"-c", "user.name=A Person", "-c", "user.email=person@example.org"}, arguments...)...)
	cmd.Dir, cmd.Env = folder, s.env
	output, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v\n%s", arguments, err, output)
	}
	return strings.TrimSpace(string(output))
}

// pawl is what the person runs at the desk; it returns what it prints and its exit code.
func (s *scratch) pawl(arguments ...string) (string, int) {
	s.t.Helper()
	cmd := asPawl(s.t, s.t.TempDir(), arguments...)
	cmd.Dir, cmd.Env = s.desk, append(append([]string{}, s.env...), "HOME="+s.t.TempDir())
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return string(output), cmd.ProcessState.ExitCode()
}

// save commits what the person has changed, and pushes the branch.
func (s *scratch) save(message string) {
	s.t.Helper()
	s.git(s.desk, "add", "-A")
	s.git(s.desk, "commit", "--quiet", "-m", message)
	s.git(s.desk, "push", "--quiet", "origin", "HEAD")
}

// branch begins a branch at the remote's main, or goes to one that is there.
func (s *scratch) branch(name string) {
	s.t.Helper()
	s.git(s.desk, "fetch", "--quiet", "origin")
	s.git(s.desk, "checkout", "--quiet", "-B", name, "origin/main")
}

// merge merges branches into main as the site does, and returns main before and after.
func (s *scratch) merge(branches ...string) (before, after string) {
	s.t.Helper()
	s.branch("main")
	before = s.git(s.desk, "rev-parse", "HEAD")
	for _, branch := range branches {
		s.git(s.desk, "merge", "--quiet", "--no-ff", "--no-edit", "origin/"+branch)
	}
	s.git(s.desk, "push", "--quiet", "origin", "main")
	return before, s.git(s.desk, "rev-parse", "HEAD")
}

// onMain returns a file of the remote's main; empty where there is none.
func (s *scratch) onMain(name string) string { return s.at("main", name) }

// at returns a file of a branch of the remote; empty where there is none.
func (s *scratch) at(branch, name string) string {
	cmd := exec.Command("git", "--git-dir", s.remote, "show", branch+":"+name)
	cmd.Env = s.env
	output, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(output)
}

// restored brings the stored baseline to the person's desk.
func (s *scratch) restored() {
	s.t.Helper()
	if output, code := s.pawl("ci", "baseline", "--restore"); code != 0 || !strings.HasPrefix(output, "restored ") {
		s.t.Fatalf("%d: %s", code, output)
	}
}

// pushed is the event of a push to main.
func (s *scratch) pushed(before, after string) actionsEvent {
	return actionsEvent{
		Name: "push", Ref: "refs/heads/main", RefName: "main", SHA: after,
		Payload: map[string]any{"before": before, "after": after, "ref": "refs/heads/main"},
	}
}

// proposed is the event of a pull request whose branch was pushed. GitHub tests what would
// be on main after the merge.
func (s *scratch) proposed(number int, branch string) actionsEvent {
	s.t.Helper()
	head, base := s.git(s.remote, "rev-parse", "refs/heads/"+branch), s.git(s.remote, "rev-parse", "refs/heads/main")
	tree := strings.Fields(s.git(s.remote, "merge-tree", "--write-tree", base, head))[0]
	merged := s.git(s.remote, "commit-tree", tree, "-p", base, "-p", head, "-m", "the merge that GitHub tests")
	ref := fmt.Sprintf("refs/pull/%d/merge", number)
	s.git(s.remote, "update-ref", ref, merged)
	return actionsEvent{
		Name: "pull_request", Ref: ref, RefName: fmt.Sprintf("%d/merge", number), SHA: merged, BaseRef: "main",
		HeadRef: branch,
		Payload: map[string]any{"action": "synchronize", "number": number, "pull_request": map[string]any{
			"number": number, "base": map[string]any{"sha": base, "ref": "main"},
			"head": map[string]any{"sha": head, "ref": branch, "repo": map[string]any{"full_name": s.server.Repository}},
		}},
	}
}

// reruns is how often a person presses the button where the machine was too noisy to tell.
// What is compared differs by five times, and still a busy machine can hide that for once; a
// loop that is broken gives the wrong answer every time.
const reruns = 5

// gate plays the gate's workflow until its report has these verdicts among others, and
// returns the run with its report; an empty one where it wrote none.
func (s *scratch) gate(e actionsEvent, wanted ...gate.Verdict) (*actionsRun, *reporting.Report) {
	s.t.Helper()
	for attempt := 1; ; attempt++ {
		run := s.play("gate.yml", e)
		r, err := reporting.Read(filepath.Join(s.host.Artifact(run.ID, "results"), reporting.JSONName))
		if errors.Is(err, os.ErrNotExist) {
			s.t.Log(run.Jobs["gate"].Log)
			return run, &reporting.Report{}
		}
		if err != nil {
			s.t.Fatal(err)
		}
		missing := slices.Clone(wanted)
		for _, result := range r.Results {
			s.t.Logf("%s: %s: %s", result.Config(), result.Verdict, result.Reason)
			if at := slices.Index(missing, result.Verdict); at >= 0 {
				missing = slices.Delete(missing, at, at+1)
			}
		}
		if len(missing) == 0 || attempt == reruns {
			return run, r
		}
	}
}

// play plays one of the workflows.
func (s *scratch) play(name string, e actionsEvent) *actionsRun {
	s.t.Helper()
	began := time.Now()
	content, err := os.ReadFile(filepath.Join(s.workflows, name))
	if err != nil {
		s.t.Fatal(err)
	}
	run, err := s.host.Play(s.t.Context(), content, e)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Logf("%s took %s", name, time.Since(began).Round(time.Millisecond))
	return run
}

// result expects how a job ended.
func (s *scratch) result(run *actionsRun, job, want string) {
	s.t.Helper()
	if got := run.Jobs[job].Result; got != want {
		s.t.Fatalf("job %s: %s, want %s\n%s", job, got, want, run.Jobs[job].Log)
	}
}

// comment returns pawl's comment on a pull request, which must be the only one of pawl's,
// and its first line.
func (s *scratch) comment(pull int) (c githubtest.Comment, first string) {
	s.t.Helper()
	found := 0
	for _, one := range s.server.Comments(pull) {
		if one.Author == "github-actions[bot]" {
			c, found = one, found+1
		}
	}
	if found != 1 {
		s.t.Fatalf("%d comments of pawl's on pull request %d", found, pull)
	}
	first, _, _ = strings.Cut(c.Body, "\n")
	return c, first
}

// held is what a kernel is compared with: the digest of its sources, and the point. Times are
// left out, because those of two moments say nothing about each other.
type held struct{ Source, Point string }

// baseline is what kernels are compared with on this device, and what they gained at last.
func (s *scratch) baseline() map[string]held {
	s.t.Helper()
	var file struct {
		Entries []struct {
			Kernel, Device string
			held
			Provisional *held
		}
	}
	if text := s.at(baseline.Branch, "results/baseline.json"); text != "" {
		if err := json.Unmarshal([]byte(text), &file); err != nil {
			s.t.Fatal(err)
		}
	}
	all := map[string]held{}
	for _, e := range file.Entries {
		if e.Device == laptop {
			continue
		}
		if all[e.Kernel] = e.held; e.Provisional != nil {
			all[e.Kernel+" at last"] = *e.Provisional
		}
	}
	return all
}
