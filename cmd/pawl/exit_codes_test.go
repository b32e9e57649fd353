package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pawl/cmd/pawl/console"
	"pawl/internal/kerneltest"
	"pawl/internal/thorough"
)

// faults are ways in which a Go program ends without being asked.
var faults = map[string]func(){
	"panic":          func() { panic("planted") },
	"panic-apart":    func() { go panic("planted"); select {} },
	"nil-pointer":    func() { var p *int; *p = 1 },
	"memory":         exhaustMemory,
	"map-writes":     writeMapTogether,
	"stack-overflow": func() { debug.SetMaxStack(1 << 16); depth = recurse(1) },
	"fatal-signal":   func() { suffer(syscall.SIGSEGV) },
	"quit":           func() { suffer(syscall.SIGQUIT) },
	"killed":         func() { suffer(syscall.SIGKILL) },
}

// What the faults do must not be optimized away.
var (
	kept  [][]byte
	depth int
)

func exhaustMemory() {
	for size := 1 << 30; ; size *= 2 { // no address space holds it all
		kept = append(kept, make([]byte, size))
	}
}

func writeMapTogether() {
	shared := map[int]int{}
	for range 4 {
		go func() {
			for i := 0; ; i++ {
				shared[i%100]++
			}
		}()
	}
	select {}
}

// recurse ends for no number that is ever asked for.
func recurse(n int) int {
	if n < 0 {
		return 0
	}
	return 1 + recurse(n+1)
}

func suffer(s syscall.Signal) {
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		panic(err)
	}
	select {}
}

// faultyWriter crashes the process at its first write.
type faultyWriter struct{ fault func() }

func (w faultyWriter) Write([]byte) (int, error) {
	w.fault()
	return 0, errors.New("it survived")
}

// crash is pawl with a fault in its standard output.
func crash() {
	start(console.Environment{
		Stdout:  faultyWriter{faults[os.Getenv("PAWL_TEST_FAULT")]},
		Stderr:  os.Stderr,
		Getenv:  os.Getenv,
		Signals: console.Interrupts,
	})
}

// A crash is none of the exit codes that mean something, 2 above all: Go's own
// code for it is the gate's "nothing could be decided".
func TestACrashIsNoAnswer(t *testing.T) {
	t.Parallel()
	meanings := []int{console.ExitOK, console.ExitNo, console.ExitNothing, console.ExitMachinery, console.ExitUsage,
		console.ExitInterrupted}
	for name := range faults {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := asPawl(t, dir, "space", "matmul")
			cmd.Args[0] = "crash"
			cmd.Env = append(cmd.Env, "PAWL_TEST_FAULT="+name)
			output, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || slices.Contains(meanings, exit.ExitCode()) {
				t.Errorf("%v: %.2000s", err, output)
			}
			if cores, _ := filepath.Glob(filepath.Join(dir, "*core*")); len(cores) > 0 {
				t.Errorf("left %v", cores)
			}
		})
	}
}

// Too little memory is a sentence before anything is begun.
func TestTooLittleMemory(t *testing.T) {
	cmd := asPawl(t, t.TempDir(), "space", "matmul")
	cmd.Args = []string{"sh", "-c", "ulimit -v 2000000 && exec -a pawl " + cmd.Path + " space matmul"}
	cmd.Path = "/bin/bash"
	output, err := cmd.CombinedOutput()
	if strings.Contains(string(output), "Sanitizer") {
		t.Skip("the race detector itself needs more")
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != console.ExitMachinery ||
		!strings.HasPrefix(string(output), "pawl: memory is limited to 1.907 GiB") ||
		strings.Count(string(output), "\n") != 1 {
		t.Errorf("%v: %.2000s", err, output)
	}
}

// A tool that fails has an exit code of its own, which is not pawl's.
func TestAChildsExitCodeIsNotOurs(t *testing.T) {
	for _, code := range []int{1, 2, 64} {
		err := exec.Command("sh", "-c", fmt.Sprintf("exit %d", code)).Run()
		var said strings.Builder
		if got := exitCode(&said, fmt.Errorf("asking git: %w", err)); got != console.ExitMachinery ||
			!strings.Contains(said.String(), "asking git") {
			t.Errorf("exit %d of a child gives %d, %q", code, got, said.String())
		}
	}
}

// workflowStep returns the lines that a step of the gate's workflow runs.
func workflowStep(t *testing.T, name string) string {
	t.Helper()
	workflow, err := os.ReadFile("../../.github/workflows/gate.yml")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)- name: ` + name + `\n(?:        id: [a-z]+\n)?        run: \|\n(.*?)\n      - `).FindSubmatch(workflow)
	if found == nil {
		t.Fatalf("no step %s in the workflow", name)
	}
	return string(found[1])
}

// The workflow's own lines on real kernels in a real repository: a slower one fails in a
// pull request, also where the branch has deleted its baseline or made one that suits it,
// and a faster one passes. The example wastes its time by a parameter.
func TestTheWorkflowFailsOnARegression(t *testing.T) {
	thorough.Only(t, "the month begins with a regression too")
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	run := func(base, name string, arguments ...string) (string, error) {
		cmd := exec.Command(name, arguments...)
		cmd.Dir = dir
		cmd.Env = append(asPawl(t, dir).Env, "BASE="+base, "HOME="+dir, "GITHUB_STEP_SUMMARY=",
			"PATH="+dir+":"+os.Getenv("PATH"),
			"GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.com")
		output, err := cmd.CombinedOutput()
		return string(output), err
	}
	must := func(arguments ...string) string {
		t.Helper()
		output, err := run("", arguments[0], arguments[1:]...)
		if err != nil {
			t.Fatalf("%v: %v: %s", arguments, err, output)
		}
		return strings.TrimSpace(output)
	}
	gate := func(base string) (output string, err error) {
		for range 4 { // a comparison that other tests have disturbed says so; what is tested here is asked again
			output, err = run(base, "sh", "-e", "-c", workflowStep(t, "Gate")) // as GitHub runs it
			if !disturbed.MatchString(output) {
				break
			}
		}
		return output, err
	}
	waste := func(times string) {
		t.Helper()
		slower := example
		slower.Repeats = "1 + " + times
		if err := slower.Write(filepath.Join(dir, "scale")); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeExamples(dir); err != nil {
		t.Fatal(err)
	}
	rules := "preset: relaxed\nregression: 50%\nimprovement: 50%\nerosion: 60%\nrounds: [10]\nsamples: 3\nkernels: " +
		"[{kernel: scale, workloads: [small]}]\n"
	if err := os.WriteFile(filepath.Join(dir, "gate.yaml"), []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	waste("8")
	if output, err := gate(""); err != nil { // on main
		t.Fatalf("%v: %s", err, output)
	}
	must("git", "init", "-q")
	must("git", "add", "scale", "gate.yaml", "results/baseline.json")
	must("git", "commit", "-q", "-m", "baseline")
	base := must("git", "rev-parse", "HEAD")

	waste("400")
	for _, tampering := range []string{"true", "rm results/baseline.json", "pawl gate || true"} {
		must("sh", "-c", tampering)
		if output, err := gate(base); err == nil || !strings.Contains(output, "fail: ") {
			t.Errorf("slower, after %s: %v: %s", tampering, err, output)
		}
	}
	waste("0")
	if output, err := gate(base); err != nil || !strings.Contains(output, "pass: ") ||
		strings.Contains(output, "moved the baseline") {
		t.Errorf("faster: %v: %s", err, output)
	}
}

// The workflow's own lines, run by a shell: 2 passes only with the report of the same run.
func TestTheWorkflowKnowsACrashFromAnAnswer(t *testing.T) {
	const crashing = "exit 2"
	const report, old = `mkdir -p results; echo '{"exit": %d,' > results/ratchet_report.json; exit %d`, `{"exit": 2,`
	for name, c := range map[string]struct {
		step, program string
		before        map[string]string
		passes        bool
	}{
		"nothing decided": {"Gate", fmt.Sprintf(report, 2, 2), nil, true},
		"infeasible": {"Gate",
			`mkdir -p results; echo '{"exit": 2, "verdict": "infeasible"' > results/ratchet_report.json; exit 2`, nil, false},
		"improved":                   {"Gate", fmt.Sprintf(report, 0, 0), nil, true},
		"regression":                 {"Gate", fmt.Sprintf(report, 1, 1), nil, false},
		"machinery":                  {"Gate", "exit 3", nil, false},
		"crash":                      {"Gate", crashing, nil, false},
		"crash beside an old report": {"Gate", crashing, map[string]string{"results/ratchet_report.json": old}, false},
		"crash after the report":     {"Gate", fmt.Sprintf(report, 1, 2), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{"bin/pawl": "#!/bin/sh\n" + c.program + "\n"}
			for file, content := range c.before {
				files[file] = content
			}
			for file, content := range files {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := kerneltest.WriteProgram(path, content); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("sh", "-e", "-c", workflowStep(t, c.step)) // as GitHub runs it
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
			if output, err := cmd.CombinedOutput(); (err == nil) != c.passes {
				t.Errorf("%v: %s", err, output)
			}
		})
	}
}
