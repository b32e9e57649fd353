package studies

import (
	"strings"
	"testing"
	"time"

	"pawl/objective"
	"pawl/search/trial"
)

// usual are the options of a command line that says nothing.
var usual = Options{
	Definition: Definition{Sampler: "auto", Seed: 1, Compiler: "nvcc", Samples: 5,
		RunTimeout: 10 * time.Second, CompileTimeout: time.Minute},
	Goals: trial.Goals{Finalists: 5, Rounds: 10},
}

// A command line, its record and the command that is made of the record say the
// same, and a resumed study takes what defines it from there.
func TestOptionsSurviveTheRecord(t *testing.T) {
	cuda := Study{ID: 4, Subject: Subject{Kernel: "k", Origin: "my kernel", Workload: "w", Backend: "cuda"}}
	host := Study{ID: 4, Subject: Subject{Kernel: "k", Origin: "./k", Workload: "w", Backend: "host"}}
	replay := Study{ID: 4, Subject: Subject{Kernel: "k", Origin: "k.json", Workload: "w", Backend: "replay"}}
	ask := Study{ID: 4, Subject: Subject{Kernel: "k", Origin: "k.yaml", Workload: "w", Backend: "ask"}}
	short, cold := usual, usual
	elsewhere := usual
	elsewhere.Device = "a simulator"
	short.Trials = 5
	cold.Caches, cold.Budget = "cold", 45*time.Second
	many := Options{
		Definition: Definition{Compiler: "triton", Caches: "warm", LockClocks: 1500, Seed: 7, Samples: 9,
			RunTimeout: 2 * time.Second, CompileTimeout: 7 * time.Second, Cold: true, Sampler: "gp"},
		Goals: trial.Goals{Finalists: 3, Rounds: 12, Trials: 5, Budget: 3 * time.Minute, Target: 2, Regret: 0.01},
	}
	for _, test := range []struct {
		asked Options
		head  Study
		want  string
	}{
		{short, host,
			"pawl tune ./k --workload w --sampler auto --seed 1 --backend host --caches warm --samples 5 --trials 5 " +
				"--finalists 5 --rounds 10"},
		{cold, host,
			"pawl tune ./k --workload w --sampler auto --seed 1 --backend host --caches cold --samples 5 --budget 45s " +
				"--finalists 5 --rounds 10"},
		{short, cuda,
			"pawl tune 'my kernel' --workload w --sampler auto --seed 1 --backend cuda --compiler nvcc --caches cold " +
				"--samples 5 --trials 5 --finalists 5 --rounds 10"},
		{short, replay,
			"pawl tune --workload w --sampler auto --seed 1 --backend replay --record k.json --trials 5 --finalists 5 " +
				"--rounds 10"},
		{elsewhere, ask,
			"pawl ask k.yaml --workload w --sampler auto --seed 1 --device 'a simulator' --finalists 5 --rounds 10"},
		{many, cuda,
			"pawl tune 'my kernel' --workload w --sampler gp --seed 7 --ignore-earlier --backend cuda --compiler triton " +
				"--caches warm --lock-clocks 1500 --samples 9 --run-timeout 2s --compile-timeout 7s --trials 5 --budget 3m0s " +
				"--target 2x --regret '1%' --finalists 3 --rounds 12"},
	} {
		study := test.head
		study.Options = test.asked.For(study)
		nothing := func(string) string { return "" }
		if got := study.Reproduction(nothing); got != test.want {
			t.Errorf("%+v\ngives %s\nwant  %s", test.asked, got, test.want)
		}
		// A resumed study is the same, without saying any of it again.
		resumed := study
		adopted, _ := study.Adopt(usual, []string{"resume"})
		resumed.Options = adopted.For(study)
		if got := resumed.Reproduction(nothing); got != test.want {
			t.Errorf("%+v\nresumed is %s\nwant       %s", test.asked, got, test.want)
		}
		// Goals may be others.
		more := usual
		more.Trials = 99
		adopted, _ = study.Adopt(more, []string{"resume", "trials"})
		if adopted.Trials != 99 || adopted.Budget != 0 {
			t.Errorf("%d trials in %v", adopted.Trials, adopted.Budget)
		}
	}
	cuda.Options = many.For(cuda)
	for flag, change := range map[string]func(*Options){
		"compiler": func(o *Options) { o.Compiler = "nvcc" }, "caches": func(o *Options) { o.Caches = "cold" },
		"lock-clocks": func(o *Options) { o.LockClocks = 1600 }, "seed": func(o *Options) { o.Seed = 8 },
		"samples":         func(o *Options) { o.Samples = 5 },
		"run-timeout":     func(o *Options) { o.RunTimeout = 10 * time.Second },
		"compile-timeout": func(o *Options) { o.CompileTimeout = time.Minute },
		"ignore-earlier":  func(o *Options) { o.Cold = false }, "sampler": func(o *Options) { o.Sampler = "auto" },
	} {
		asked := cuda.Options
		change(&asked)
		if said := cuda.Contradiction(asked, []string{"resume", flag}); !strings.Contains(said, "--"+flag) {
			t.Errorf("%s: %q", flag, said)
		}
	}
	asked := usual
	asked.Seed, asked.Trials, asked.Caches = 7, 3, "warm"
	if said := cuda.Contradiction(asked.For(cuda), []string{"resume", "seed", "trials", "caches"}); said != "" {
		t.Errorf("nothing contradicts: %q", said)
	}
}

// A record is not resumed by a search on this machine.
func TestResume(t *testing.T) {
	other := Reading{Place: Place{Out: "other"}}
	ask := Study{Subject: Subject{Backend: Ask, Origin: "x", Workload: "w"}, Reading: other}
	ask.Options.Device = "a b"
	for want, s := range map[string]Study{
		"pawl tune ./a --workload small --resume --backend host": {
			Subject: Subject{Backend: "host", Origin: "./a", Workload: "small"}},
		"pawl tune a --workload small --resume --out other": {
			Subject: Subject{Backend: "cuda", Origin: "a", Workload: "small"}, Reading: other},
		"pawl tune --backend replay --record record.json --resume": {
			Subject: Subject{Backend: Replay, Origin: "record.json"}},
		"pawl ask space.yaml --workload default --resume": {
			Subject: Subject{Backend: Ask, Origin: "space.yaml", Workload: "default"}},
		"pawl ask x --workload w --resume --device 'a b' --out other": ask,
	} {
		if got := s.Resume(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestAnotherMachineIsNamed(t *testing.T) {
	here := objective.Environment{
		Device:   "d",
		Compiler: "gcc 12",
		Flags:    "-O2",
		Driver:   "1",
		Cores:    2,
		System:   "linux/amd64",
	}
	for want, change := range map[string]func(*objective.Environment){
		`study 3 was measured with another compiler: "gcc 12" then, "clang 19" now`: func(e *objective.Environment) {
			e.Compiler = "clang 19"
		},
		`study 3 was measured with another set of compiler flags: "-O2" then, "-O3" now`: func(e *objective.Environment) {
			e.Flags = "-O3"
		},
		`study 3 was measured with another driver: "1" then, "2" now`: func(e *objective.Environment) {
			e.Driver = "2"
		},
		`study 3 was measured with another number of cores: "2" then, "4" now`: func(e *objective.Environment) {
			e.Cores = 4
		},
	} {
		now := here
		change(&now)
		if got := (Study{ID: 3, Environment: here}).Elsewhere(now); !strings.HasPrefix(got, want) {
			t.Errorf("%q, not %q", got, want)
		}
	}
	now := here
	now.Commit, now.Pawl = "abc", "2"
	if got := (Study{ID: 3, Environment: here}).Elsewhere(now); got != "" {
		t.Errorf("%q", got)
	}
}
