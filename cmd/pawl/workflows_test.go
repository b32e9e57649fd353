package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"pawl/gate/ci/setup"
)

// workflow is what the tests read of a workflow.
type workflow struct {
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		Permissions *map[string]string `yaml:"permissions"`
		Timeout     int                `yaml:"timeout-minutes"`
		Steps       []struct {
			Name string            `yaml:"name"`
			Uses string            `yaml:"uses"`
			Run  string            `yaml:"run"`
			With map[string]any    `yaml:"with"`
			Env  map[string]string `yaml:"env"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// workflows reads our own and those that init writes into somebody else's repository.
func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	other := t.TempDir()
	if output, err := exec.Command("git", "init", "-q", other).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if _, err := setup.Init(t.Context(), setup.Options{Folder: other, Pawl: setup.Source{Repository: "o/pawl", Commit: strings.Repeat("0", 40)}, Runner: "gpu"}); err != nil {
		t.Fatal(err)
	}
	all := map[string]workflow{}
	for where, top := range map[string]string{"ours": "../..", "theirs": other} {
		paths, err := filepath.Glob(filepath.Join(top, ".github/workflows/*.yml"))
		if err != nil || len(paths) < 2 {
			t.Fatalf("%d workflows in %s, %v", len(paths), top, err)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var w workflow
			if err := yaml.Unmarshal(content, &w); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			all[where+" "+filepath.Base(path)] = w
		}
	}
	return all
}

// pending are calls of commands that are being built.
var pending = []string{"ci should-run", "ci matrix", "ci wake", "ci sleep", "ci draft", "tune", "gate --study", "apply"}

// Every call of pawl in a workflow names a command and flags that there are.
func TestWorkflowsCallWhatThereIs(t *testing.T) {
	app := newApp(environment{})
	calls := 0
	for name, w := range workflows(t) {
		for job, j := range w.Jobs {
			for _, step := range j.Steps {
				for _, call := range invocations(step.Run) {
					calls++
					if err := exists(app, call); err != nil && !slices.ContainsFunc(pending, func(p string) bool { return strings.HasPrefix(strings.Join(call, " "), p) }) {
						t.Errorf("%s, job %s, step %s: pawl %s: %v", name, job, step.Name, strings.Join(call, " "), err)
					}
				}
			}
		}
	}
	if calls < 20 {
		t.Errorf("only %d calls found", calls)
	}
}

var pinned = regexp.MustCompile(`^[A-Za-z0-9-]+/[A-Za-z0-9._/-]+@[0-9a-f]{40}$`)

// What a linter may not know or may be told to ignore: text from outside reaches a shell
// through the environment only, every action is pinned, every job has an end and says what
// its token may do, and a job that may write runs no kernel.
func TestWorkflowsAreGuarded(t *testing.T) {
	runsKernels := regexp.MustCompile(`(?m)\bpawl (gate|tune|fuzz|bench|apply)\b|\.ci/run`)
	for name, w := range workflows(t) {
		if w.Permissions == nil || len(w.Permissions) > 0 {
			t.Errorf("%s: the workflow as a whole may %v", name, w.Permissions)
		}
		for job, j := range w.Jobs {
			if j.Permissions == nil || j.Timeout == 0 {
				t.Errorf("%s: job %s has no permissions or no end", name, job)
				continue
			}
			writes := false
			for _, level := range *j.Permissions {
				writes = writes || level == "write"
			}
			for _, step := range j.Steps {
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s, job %s: an expression inside a shell: %s", name, job, step.Run)
				}
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s, job %s: %s is not pinned by its hash", name, job, step.Uses)
				}
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
					t.Errorf("%s, job %s: a token stays in the checkout", name, job)
				}
				if writes && runsKernels.MatchString(step.Run) {
					t.Errorf("%s, job %s may write and runs %s", name, job, step.Run)
				}
			}
		}
	}
}
