package main

import (
	"cmp"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pawl/cmd/pawl/console"
	"pawl/internal/kerneltest"
	"pawl/internal/postgrestest"
	"pawl/internal/thorough"
	"pawl/objective/cuda"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/devices"
)

// TestMain makes the test binary stand in for pawl: the scripts in testdata and
// the kill test execute it, and it executes itself again as a worker.
func TestMain(m *testing.M) {
	devices.Serve() // or every worker of a test would run all tests
	// The race detector lets every process sleep a second before it ends.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	testscript.Main(m, map[string]func(){"crash": crash, "pawl": func() {
		env := outside()
		env.BenchTime = 25 * time.Millisecond // what the scripts measure differs by many times
		start(env)
	}})
}

// TestScripts runs the behaviors in testdata, each file named after one.
func TestScripts(t *testing.T) {
	t.Parallel()
	cache := t.TempDir() // of all scripts: what one has compiled, the next one finds
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_CACHE_HOME", cache)
			env.Setenv("CC", os.Getenv("CC"))
			env.Setenv("PYTHON", os.Getenv("PYTHON"))
			// for the scripts that need a GPU; auto is the processor in the others
			env.Setenv("OUTER_CUDA_HOME", os.Getenv("CUDA_HOME"))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			if err := writeBaseline(env.WorkDir); err != nil {
				return err
			}
			return writeExamples(env.WorkDir)
		},
		Condition: condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status, "schema": schema, "postgres": func(ts *testscript.TestScript, _ bool, arguments []string) {
				ts.Setenv(arguments[0], postgrestest.Database(t))
			}, "sql": execute, "untouched": untouched, "erode": erode, "forget": forget, "archived": archived,
		},
	})
}

// condition knows whether all was asked for, whether there is a GPU, whether there are nvcc, a C++ compiler, Python
// and numpy, and whether the C compiler has its sanitizers.
func condition(name string) (bool, error) {
	switch name {
	case "all": // a script that is asked for by its name runs too
		return thorough.All() || strings.Contains(flag.Lookup("test.run").Value.String(), "TestScripts/"), nil
	case "gpu":
		_, err := cuda.FindGPUs()
		return err == nil, nil
	case "nvcc":
		_, err := nvcc.Find(context.Background(), os.Getenv)
		if err != nil && os.Getenv("PAWL_REQUIRE_NVCC") != "" {
			return false, err
		}
		return err == nil, nil
	case "postgres":
		return postgrestest.Installed()
	case "python", "numpy":
		return hasPython(name)
	case "c++":
		_, err := exec.LookPath("c++")
		return err == nil, nil
	case "sanitizer": // a compiler without prints the name as it is
		path, err := exec.Command(cmp.Or(os.Getenv("CC"), "cc"), "-print-file-name=libasan.so").Output()
		return filepath.IsAbs(string(path)), err
	}
	return false, fmt.Errorf("no condition %q", name)
}

// hasPython reports whether the Python that pawl import finds has a module, itself for one.
func hasPython(module string) (bool, error) {
	program := "import " + map[string]string{"python": "sys", "numpy": "numpy"}[module]
	err := exec.Command(cmp.Or(os.Getenv("PYTHON"), "python3"), "-c", program).Run()
	if required := "PAWL_REQUIRE_" + strings.ToUpper(module); err != nil && os.Getenv(required) != "" {
		return false, fmt.Errorf("%s is set, and there is none: %w", required, err)
	}
	return err == nil, nil
}

// disturbed is what a comparison says that the load of the machine has kept from a verdict.
var disturbed = regexp.MustCompile(`A/A failed|drift: |throttling: |too noisy|but that may be chance`)

// status runs a command and checks its exit code: status 64 pawl tune --bad.
func status(ts *testscript.TestScript, _ bool, arguments []string) {
	want, err := strconv.Atoi(arguments[0])
	ts.Check(err)
	got := 0
	for range 4 {
		err = ts.Exec(arguments[1], arguments[2:]...)
		got = 0
		if exit, ok := err.(*exec.ExitError); ok {
			got = exit.ExitCode()
		} else if err != nil {
			ts.Fatalf("%v", err)
		}
		// Other tests run beside this one. A comparison that they have disturbed says so,
		// which is right; what is tested here is asked again.
		if got == want || !disturbed.MatchString(ts.ReadFile("stdout")) {
			break
		}
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// schema gives a database another schema version: schema studies.db 99.
func schema(ts *testscript.TestScript, _ bool, arguments []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(arguments[0]))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec("PRAGMA user_version = " + arguments[1])
	ts.Check(err)
}

// execute changes a database behind pawl's back: sql studies.db 'DELETE ...'.
func execute(ts *testscript.TestScript, _ bool, arguments []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(arguments[0]))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(arguments[1])
	ts.Check(err)
}

// example is a kernel that compiles and runs in no time.
var example = kerneltest.Scale{
	Params:    []string{"BLOCK: {values: [1, 2, 4, 8, 16, 32], default: 1}", "WASTE: {values: [0, 1, 2, 3], default: 3}"},
	Workloads: []string{"small: {N: 400}", "tiny: {N: 100}"},
	Repeats:   "1 + WASTE", Block: "BLOCK",
}

// writeExamples puts the kernel into a script's folder, as scale.
func writeExamples(dir string) error { return example.Write(filepath.Join(dir, "scale")) }

// The example in each command's help is a command line that pawl understands.
func TestHelpExamplesParse(t *testing.T) {
	env := console.Environment{Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Signals: console.Interrupts}
	app := newApp(env)
	seen := 0
	commands := app.Commands
	for i := 0; i < len(commands); i++ {
		c := commands[i]
		commands = append(commands, c.Subcommands...)
		if len(c.Subcommands) > 0 {
			continue
		}
		_, example, found := strings.Cut(c.Description, "Example:\n   ")
		if !found || !strings.Contains(c.Description, "Exit codes: 0") {
			t.Errorf("%s: no example or exit codes in its help", c.FullName())
			continue
		}
		example, _, _ = strings.Cut(example, "\n")
		at := strings.Index(example, "pawl ")
		words := strings.Fields(strings.TrimRight(example[at:], ")"))
		if pipe := strings.Index(strings.Join(words, " "), " > "); pipe >= 0 {
			words = strings.Fields(strings.Join(words, " ")[:pipe])
		}
		if _, err := flagsFirst(app, words); err != nil {
			t.Errorf("%s: %v", example, err)
		}
		seen++
	}
	if seen < 9 {
		t.Errorf("only %d examples", seen)
	}
}

func TestFlagsMayFollowArguments(t *testing.T) {
	app := newApp(console.Environment{})
	for line, want := range map[string]string{
		"pawl tune attention --trials 9 --json":   "pawl tune --trials 9 --json -- attention",
		"pawl tune --trials=9 attention -w small": "pawl tune --trials=9 -w small -- attention",
		"pawl studies show --json 3":              "pawl studies show --json -- 3",
		"pawl tune -- --odd":                      "pawl tune -- --odd",
		"pawl":                                    "pawl",
	} {
		got, err := flagsFirst(app, strings.Fields(line))
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: got %s, %v, want %s", line, strings.Join(got, " "), err, want)
		}
	}
	for line, want := range map[string]string{
		"pawl tune --trails 9": "did you mean --trials",
		"pawl tune --trials":   "needs a value",
	} {
		if _, err := flagsFirst(app, strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", line, err)
		}
	}
}
