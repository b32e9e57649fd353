package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"pawl/cmd/pawl/console"
	"pawl/gate/baseline"
	"pawl/gate/ci/setup"
	"pawl/gate/policy"
	"pawl/internal/kerneltest"
)

// workflow is what the tests read of a workflow.
type workflow struct {
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]job    `yaml:"jobs"`
}

type job struct {
	Permissions *map[string]string `yaml:"permissions"`
	Timeout     int                `yaml:"timeout-minutes"`
	Steps       []struct {
		Name string            `yaml:"name"`
		Uses string            `yaml:"uses"`
		Run  string            `yaml:"run"`
		With map[string]any    `yaml:"with"`
		Env  map[string]string `yaml:"env"`
	} `yaml:"steps"`
}

// workflows reads our own and those that init writes into somebody else's repository.
func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	other := t.TempDir()
	if output, err := exec.Command("git", "init", "-q", other).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if _, err := setup.Init(t.Context(),
		setup.Options{
			Folder: other,
			Pawl:   setup.Source{Repository: "o/pawl", Commit: strings.Repeat("0", 40)},
			Runner: "gpu",
		}); err != nil {
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
		// An action has the permissions of the job that uses it.
		var action struct{ Runs job }
		content, err := os.ReadFile(filepath.Join(top, ".github/actions/pawl/action.yml"))
		if err == nil {
			err = yaml.Unmarshal(content, &action)
		}
		if err != nil || len(action.Runs.Steps) == 0 {
			t.Fatalf("%d steps, %v", len(action.Runs.Steps), err)
		}
		action.Runs.Permissions, action.Runs.Timeout = &map[string]string{}, 1
		all[where+" action"] = workflow{Permissions: map[string]string{}, Jobs: map[string]job{"pawl": action.Runs}}
	}
	return all
}

// Every call of pawl in a workflow names a command and flags that there are.
func TestWorkflowsCallWhatThereIs(t *testing.T) {
	app := newApp(console.Environment{})
	calls := 0
	for name, w := range workflows(t) {
		for job, j := range w.Jobs {
			for _, step := range j.Steps {
				for _, call := range invocations(step.Run) {
					calls++
					if err := exists(app, call); err != nil {
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
				if strings.Contains(step.Run, "${{") || strings.Contains(step.Run, "$((") {
					t.Errorf("%s, job %s: an expression or arithmetic inside a shell: %s", name, job, step.Run)
				}
				if step.Uses != "" && !strings.HasPrefix(step.Uses, "./") && !pinned.MatchString(step.Uses) {
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

// script returns the lines of a step of our own workflow.
func script(t *testing.T, all map[string]workflow, file, job, name string) string {
	t.Helper()
	for _, step := range all["ours "+file].Jobs[job].Steps {
		if step.Name == name {
			return step.Run
		}
	}
	t.Fatalf("no step %s in job %s of %s", name, job, file)
	return ""
}

// asActions runs lines as GitHub does, in an empty folder, and returns what they print and
// what they set.
func asActions(t *testing.T, lines string, programs map[string]string, env ...string) (printed, set string, err error) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range programs {
		if err := kerneltest.WriteProgram(filepath.Join(dir, name), "#!/bin/sh\n"+content); err != nil {
			t.Fatal(err)
		}
	}
	output := filepath.Join(dir, "output")
	if err := os.WriteFile(output, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-e", "-c", lines)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "GITHUB_OUTPUT="+output), env...)
	text, err := cmd.CombinedOutput()
	content, readErr := os.ReadFile(output)
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(text), string(content), err
}

func TestEveryStepIsShell(t *testing.T) {
	for name, w := range workflows(t) {
		for job, j := range w.Jobs {
			for _, step := range j.Steps {
				if output, err := exec.Command("sh", "-n", "-c", step.Run).CombinedOutput(); err != nil {
					t.Errorf("%s, job %s, step %s: %s", name, job, step.Name, output)
				}
			}
		}
	}
}

// The check that is required passes only where the gate passed, or where there was nothing to
// gate: GitHub takes a skipped job for one that passed.
func TestVerdictIsNeverSilent(t *testing.T) {
	lines := script(t, workflows(t), "gate.yml", "verdict", "Verdict")
	for results, want := range map[[4]string]bool{
		{"success", "true", "success", "success"}:     true,
		{"success", "false", "skipped", "skipped"}:    true,
		{"skipped", "", "skipped", "skipped"}:         true, // another label; under another name
		{"success", "true", "skipped", "skipped"}:     false,
		{"success", "true", "failure", "success"}:     false,
		{"success", "true", "cancelled", "cancelled"}: false,
		{"success", "true", "success", "skipped"}:     false, // shards that nobody has joined
		{"success", "true", "success", "failure"}:     false,
		{"failure", "", "skipped", "skipped"}:         false,
		{"cancelled", "", "skipped", "skipped"}:       false,
		{"success", "", "skipped", "skipped"}:         false,
		{"success", "maybe", "success", "success"}:    false,
	} {
		printed, _, err := asActions(t, lines, nil, "CHANGES="+results[0], "RUN="+results[1], "GATE="+results[2],
			"JOIN="+results[3])
		if (err == nil) != want || !want && !strings.Contains(printed, "::error::") {
			t.Errorf("%q: %v: %s", results, err, printed)
		}
	}
}

// The machine stays awake exactly while a run that has not come to its own sleep is there.
// Where GitHub cannot be asked it sleeps: that fails the step, and the next one runs always.
func TestTheLastRunPutsTheMachineToSleep(t *testing.T) {
	all := workflows(t)
	for _, file := range []string{"gate.yml", "tune.yml"} {
		lines := script(t, all, file, "sleep", "Who else needs it")
		for name, c := range map[string]struct {
			gh    string
			busy  string
			fails bool
		}{
			"alone":                      {`case "$1" in run) echo 7 ;; esac`, "", false},
			"another one measures":       {`case "$1" in run) printf '7\n8\n' ;; api) echo 0 ;; esac`, "busy=8\n", false},
			"another one goes to sleep":  {`case "$1" in run) printf '7\n8\n' ;; api) echo 1 ;; esac`, "", false},
			"GitHub says nothing useful": {`case "$1" in run) printf '7\n8\n' ;; api) exit 1 ;; esac`, "", true},
		} {
			printed, set, err := asActions(t, lines, map[string]string{"gh": c.gh}, "GITHUB_RUN_ID=7", "GITHUB_REPOSITORY=o/r")
			if set != c.busy || (err != nil) != c.fails {
				t.Errorf("%s, %s: set %q, %v: %s", file, name, set, err, printed)
			}
		}
	}
}

// A machine is woken by the commands of the base: a pull request that adds runner.yaml is gated
// without it, and a workflow that leaves a machine awake has two jobs that put it to sleep.
func TestAWokenMachineIsGuarded(t *testing.T) {
	all := workflows(t)
	lines := script(t, all, "gate.yml", "changes", "Does the runner sleep")
	for name, c := range map[string]struct{ runner, git, want string }{
		"the base has it":    {"gpu", `[ "$*" = "cat-file -e base:runner.yaml" ]`, "sleeps=true\n"},
		"only the branch":    {"gpu", `exit 128`, ""},
		"no runner of one's": {"", `true`, ""},
	} {
		printed, set, err := asActions(t, lines, map[string]string{"git": c.git}, "RUNNER="+c.runner, "COMMIT=base")
		if set != c.want || err != nil {
			t.Errorf("%s: set %q, %v: %s", name, set, err, printed)
		}
	}
	for name, w := range all {
		commands := map[string]string{}
		for job, j := range w.Jobs {
			for _, step := range j.Steps {
				commands[job] += step.Run + "\n"
			}
		}
		if strings.Contains(commands["wake"], "pawl ci wake") && (!strings.Contains(commands["guard"], "pawl ci guard") ||
			!strings.Contains(commands["sleep"], "pawl ci sleep")) {
			t.Errorf("%s wakes a machine that may be forgotten", name)
		}
	}
}

// What we ask of others holds here: a branch does not build its own judge, everything that the policy gates has
// a baseline, and so has what was recorded on an H200.
func TestWeAreGated(t *testing.T) {
	for _, step := range workflows(t)["ours gate.yml"].Jobs["gate"].Steps {
		if step.Uses == "./.github/actions/pawl" && !strings.Contains(fmt.Sprint(step.With["ref"]), "base.sha") {
			t.Errorf("the judge is built from %v", step.With["ref"])
		}
	}
	rules, err := policy.Read("../../gate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	held, err := baseline.Read("../../docs/weekly/results/baseline.json")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, e := range held.Entries {
		found[e.Origin+" "+e.Workload], found[e.Device] = true, true
	}
	for _, k := range rules.Kernels {
		for _, workload := range k.Workloads {
			if !found[k.Name+" "+workload] {
				t.Errorf("%s %s has no baseline", k.Name, workload)
			}
		}
	}
	if !found["NVIDIA H200"] {
		t.Errorf("nothing is held to the H200: %v", found)
	}
}
