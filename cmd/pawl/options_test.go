package main

import (
	"os"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"pawl/objective"
	"pawl/studies"
)

// Every flag of pawl tune is either recorded with the study or known to change no
// result: a new one that is neither would be lost on resume and in the command that
// reproduces the study.
func TestEveryFlagHasARole(t *testing.T) {
	roles := map[string]int{}
	for _, o := range tuneOptions {
		roles[o.name]++
	}
	env := environment{stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, signals: interrupts}
	for _, flag := range tuneCommand(env).Flags {
		name := flag.Names()[0]
		if roles[name] != 1 {
			t.Errorf("--%s is %d times in tuneOptions", name, roles[name])
		}
		delete(roles, name)
	}
	for name := range roles {
		t.Errorf("there is no flag --%s", name)
	}
}

// parsed runs something with the flags of a command line.
func parsed(t *testing.T, line string, do func(*cli.Context)) {
	t.Helper()
	env := environment{stdout: os.Stdout, stderr: os.Stderr, getenv: func(string) string { return "" }, signals: interrupts}
	command := tuneCommand(env)
	command.Action = func(c *cli.Context) error { do(c); return nil }
	app := &cli.App{Commands: []*cli.Command{command}, ExitErrHandler: func(*cli.Context, error) {}}
	if err := app.Run(append([]string{"pawl", "tune"}, strings.Fields(line)...)); err != nil {
		t.Fatal(err)
	}
}

// A command line, its record and the command that is made of the record say the
// same, and a resumed study takes what defines it from there.
func TestOptionsSurviveTheRecord(t *testing.T) {
	cuda := studies.Study{ID: 4, Kernel: "k", Origin: "my kernel", Workload: "w", Backend: "cuda"}
	host := studies.Study{ID: 4, Kernel: "k", Origin: "./k", Workload: "w", Backend: "host"}
	const many = "--compiler nvrtc --caches warm --lock-clocks 1500 --seed 7 --samples 9 --finalists 3 --rounds 12 --trials 5 --budget 3m0s --run-timeout 2s --compile-timeout 7s --target 2x --regret 1% --cold --sampler gp"
	for _, test := range []struct {
		line string
		head studies.Study
		want string
	}{
		{"--trials 5", host, "pawl tune ./k --workload w --sampler auto --seed 1 --trials 5 --backend host --samples 5 --finalists 5 --rounds 10"},
		{"--caches warm", host, "pawl tune ./k --workload w --sampler auto --seed 1 --budget 45s --backend host --samples 5 --finalists 5 --rounds 10"},
		{many, cuda, "pawl tune 'my kernel' --workload w --sampler gp --seed 7 --trials 5 --budget 3m0s --cold --target 2x --regret '1%' --backend cuda --compiler nvrtc --caches warm --lock-clocks 1500 --samples 9 --finalists 3 --rounds 12 --run-timeout 2s --compile-timeout 7s"},
	} {
		study := test.head
		parsed(t, test.line, func(c *cli.Context) { study.Options = studyOptions(c, study) })
		env := environment{getenv: func(string) string { return "" }}
		if got := reproduction(env, study, study.Options); got != test.want {
			t.Errorf("%s\ngives %s\nwant  %s", test.line, got, test.want)
		}
		// A resumed study is the same, without saying any of it again.
		parsed(t, "--resume", func(c *cli.Context) {
			if _, err := adopt(c, studyOptions(c, study), study); err != nil {
				t.Fatal(err)
			}
			if got := reproduction(env, study, studyOptions(c, study)); got != test.want {
				t.Errorf("%s\nresumed is %s\nwant       %s", test.line, got, test.want)
			}
		})
		// Goals may be others.
		parsed(t, "--resume --trials 99", func(c *cli.Context) {
			if _, err := adopt(c, studyOptions(c, study), study); err != nil {
				t.Fatal(err)
			}
			if trials, budget := limits(c); trials != 99 || budget != 0 {
				t.Errorf("%d trials in %v", trials, budget)
			}
		})
	}
	cuda.Options = map[string]string{}
	parsed(t, many, func(c *cli.Context) { cuda.Options = studyOptions(c, cuda) })
	for _, flag := range []string{"--compiler nvcc", "--caches cold", "--lock-clocks 1600", "--seed 8", "--samples 5", "--run-timeout 10s", "--compile-timeout 1m", "--cold=false", "--sampler auto"} {
		parsed(t, "--resume "+flag, func(c *cli.Context) {
			if said := contradiction(c, studyOptions(c, cuda), cuda); !strings.Contains(said, strings.Fields(strings.ReplaceAll(flag, "=", " "))[0]) {
				t.Errorf("%s: %q", flag, said)
			}
		})
	}
	parsed(t, "--resume --seed 7 --trials 3 --caches warm", func(c *cli.Context) {
		if said := contradiction(c, studyOptions(c, cuda), cuda); said != "" {
			t.Errorf("nothing contradicts: %q", said)
		}
	})
}

func TestAnotherMachineIsNamed(t *testing.T) {
	here := objective.Environment{Device: "d", Compiler: "gcc 12", Flags: "-O2", Driver: "1", Cores: 2, System: "linux/amd64"}
	for want, change := range map[string]func(*objective.Environment){
		`study 3 was measured with another compiler: "gcc 12" then, "clang 19" now`:      func(e *objective.Environment) { e.Compiler = "clang 19" },
		`study 3 was measured with another set of compiler flags: "-O2" then, "-O3" now`: func(e *objective.Environment) { e.Flags = "-O3" },
		`study 3 was measured with another driver: "1" then, "2" now`:                    func(e *objective.Environment) { e.Driver = "2" },
		`study 3 was measured with another number of cores: "2" then, "4" now`:           func(e *objective.Environment) { e.Cores = 4 },
	} {
		now := here
		change(&now)
		if got := elsewhere(studies.Study{ID: 3, Environment: here}, now); !strings.HasPrefix(got, want) {
			t.Errorf("%q, not %q", got, want)
		}
	}
	now := here
	now.Commit, now.Pawl = "abc", "2"
	if got := elsewhere(studies.Study{ID: 3, Environment: here}, now); got != "" {
		t.Errorf("%q", got)
	}
}
