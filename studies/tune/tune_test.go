package tune

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/internal/postgrestest"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/search/confirm"
	"pawl/search/trial"
	"pawl/studies"
)

// asked is a short study of the embedded record of attention.
func asked(t *testing.T) Options {
	return Options{
		Study: studies.Options{
			Definition: studies.Definition{Backend: Replay, Sampler: "random", Seed: 7, Samples: 5},
			Goals:      trial.Goals{Trials: 12, Rounds: 3, Finalists: 1},
		},
		Given:    []string{"backend", "sampler", "seed", "trials", "rounds", "finalists"},
		Database: filepath.Join(t.TempDir(), "studies.db"),
		Tools:    devices.Tools{Getenv: func(string) string { return "" }, Notice: func(text string) { t.Log(text) }},
		Observer: Unobserved{},
	}
}

// A study is recorded, and the next one begins with what it found good. A resumed one
// takes what defines it from its record.
func TestStudiesFollowEachOther(t *testing.T) {
	o := asked(t)
	first, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if first.Study.ID != 1 || first.Search.Asked != 12 || len(first.Study.First) > 0 {
		t.Errorf("study %d of %d trials, begun with %v", first.Study.ID, first.Search.Asked, first.Study.First)
	}
	second, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	store, err := studies.OpenExisting(t.Context(), o.Database)
	if err != nil {
		t.Fatal(err)
	}
	past, err := store.Past(t.Context(), first.Study.ID)
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	// The default is tried anyway, and seed 7 draws better points.
	if best, _ := confirm.Winner(past.Standing()); second.Study.ID != 2 || len(second.Study.First) == 0 ||
		second.Study.First[0] != best {
		t.Errorf("study %d begins with %v; the winner is %s", second.Study.ID, second.Study.First, best)
	}
	o.Resume, o.Given = true, []string{"backend", "trials"}
	o.Study.Sampler, o.Study.Seed, o.Study.Trials = "auto", 1, 14
	resumed, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if s := resumed.Study; s.ID != 2 || s.Seed != 7 || s.Sampler != "random" || resumed.Search.Asked != 14 ||
		!strings.Contains(s.Command, "--trials 14") {
		t.Errorf("study %d, seed %d, sampler %s, %d trials: %s", s.ID, s.Seed, s.Sampler, resumed.Search.Asked, s.Command)
	}
	o.Given = append(o.Given, "seed")
	if _, err := Run(t.Context(), o); err == nil ||
		!strings.Contains(err.Error(), "begun with --seed 7, and the command line says with --seed 1") {
		t.Errorf("a study of another seed: %v", err)
	}
	o.Given, o.Study.Cold, o.Resume = []string{"ignore-earlier"}, true, false
	cold, err := Run(t.Context(), o)
	if err != nil || len(cold.Study.First) > 0 {
		t.Errorf("a cold study: %v, begun with %v", err, cold.Study.First)
	}
}

// What an earlier version recorded of points that the machine had failed is tried again by a resumed study, and what
// points did themselves stays.
func TestResumeTriesAgainWhatTheMachineFailed(t *testing.T) {
	o := asked(t)
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	read := func(change func(*studies.Store)) trial.Past {
		store, err := studies.OpenExisting(t.Context(), o.Database)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		change(store)
		past, err := store.Past(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		return past
	}
	before := read(func(*studies.Store) {})
	failures := map[int]*objective.Failure{
		0: objective.Failed(objective.Fuzz, "crashed", "SIGKILL, killed from outside, perhaps for want of memory"),
		2: objective.Failed(objective.Compile, objective.CompileError,
			"gcc: fatal error: Killed signal terminated program cc1"),
		3: objective.Failed(objective.Compile, objective.CompileError, "x.c:3:1: error: no such thing"),
		4: objective.Failed(objective.Fuzz, "crashed", "SIGSEGV, an invalid memory access"),
		5: objective.Failed(objective.Compile, objective.CompileError,
			"/usr/bin/ld: cannot open output file /c/making-123/artifact: No such file or directory"),
	}
	read(func(store *studies.Store) {
		for number, failure := range failures {
			if err := store.Recorder(1).Disqualified(number, failure); err != nil {
				t.Fatal(err)
			}
		}
	})
	o.Resume = true
	summary, err := Run(t.Context(), o)
	if err != nil || summary.Search.Asked != 12 || summary.Search.Abandoned > 0 {
		t.Fatalf("%+v, %v", summary, err)
	}
	for number, now := range read(func(*studies.Store) {}).Trials {
		stays := number == 3 || number == 4
		if stays && (now.OK() || now.Outcome.Failure.Detail != failures[number].Detail) ||
			!stays && (now.OK() != before.Trials[number].OK() || now.OK() && !slices.Equal(now.Outcome.Samples,
				before.Trials[number].Outcome.Samples)) {
			t.Errorf("trial %d: %+v, before %+v", number, now.Outcome, before.Trials[number].Outcome)
		}
	}
}

func TestMistakes(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"--record FILE is what":                     func(o *Options) { o.Study.Backend, o.Study.Record = "host", "k.json" },
		"a record names its kernel itself":          func(o *Options) { o.Study.Record, o.Kernel = "k.json", "k" },
		"--across measures on other workloads":      func(o *Options) { o.Study.Across = true },
		"--rounds 2 cannot confirm anything":        func(o *Options) { o.Study.Rounds = 2 },
		`no sampler "rand"; there are`:              func(o *Options) { o.Study.Sampler = "rand" },
		`no recorded sweep of kernel "k"`:           func(o *Options) { o.Kernel = "k" },
		`of workload "training_512", not of "chat"`: func(o *Options) { o.Study.Workload = "chat" },
	} {
		o := asked(t)
		change(&o)
		_, err := Run(t.Context(), o)
		if argument := (*devices.ArgumentError)(nil); !errors.As(err, &argument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The same study asks the same points wherever it is recorded, also where it was interrupted and
// resumed, and is of the same content in the end.
func TestEveryEngineAsksTheSamePoints(t *testing.T) {
	t.Parallel()
	o := asked(t)
	o.Study.Sampler, o.Study.Trials = "gp", 16
	var points []string
	for _, database := range []string{o.Database, postgrestest.Database(t)} {
		o.Database, o.Resume, o.Study.Trials = database, false, 9
		if _, err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		o.Resume, o.Study.Trials = true, 16
		summary, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		store, err := studies.OpenExisting(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		past, err := store.Past(t.Context(), summary.Study.ID)
		if err != nil || len(past.Trials) != 16 {
			t.Fatalf("%d trials, %v", len(past.Trials), err)
		}
		text := ""
		for _, trial := range past.Trials {
			text += fmt.Sprintln(trial.Point, trial.Outcome.Samples)
		}
		for _, round := range past.Rounds {
			text += fmt.Sprintln(round.Phase, round.Number, round.Point, round.Outcome.Samples)
		}
		points = append(points, text)
	}
	if points[0] != points[1] {
		t.Errorf("%s\nis not\n%s", points[1], points[0])
	}
}
