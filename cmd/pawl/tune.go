package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/kernels"
	"pawl/search"
	"pawl/search/sampler"
	"pawl/studies"
	"pawl/studies/report"
)

// defaultBudget holds when neither --budget nor --trials is given: the main
// job of a first visit in under a minute.
const defaultBudget = 45 * time.Second

func tuneCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:      "tune",
		Usage:     "search a kernel's parameters and suggest the best",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: details(
			"Tunes an embedded kernel or the one in a folder: searches, compiles, checks, measures,\n"+
				"confirms the finalists in fresh processes and writes "+report.MarkdownName+" for a reviewer.\n"+
				"Everything is recorded as it happens: after an interruption --resume goes on.",
			"pawl tune attention --workload chat_256 --budget 2m",
			"0 done", "2 no point passed", "3 the machinery failed", "64 usage", "130 stopped"),
		Flags: []cli.Flag{
			workloadFlag, tuneBackendFlag, recordFlag, compilerFlag, cachesFlag, clockFlag, seedFlag, outFlag, cacheFlag, jsonFlag, timeoutFlag, compileFlag,
			&cli.DurationFlag{Name: "budget", DefaultText: fmt.Sprintf("%v, or none with --trials", defaultBudget), Usage: "the `TIME` for search and confirmation"},
			&cli.IntFlag{Name: "trials", DefaultText: "no limit", Usage: "the largest `NUMBER` of trials"},
			&cli.StringFlag{Name: "target", DefaultText: "none", Usage: "stop searching at this `SPEEDUP` over the default, such as 1.10x"},
			&cli.StringFlag{Name: "regret", DefaultText: "never", Usage: "stop searching when at most this `SHARE` is left to gain, 90 % sure, such as 1%"},
			&cli.StringFlag{Name: "sampler", Value: sampler.Default, Usage: "how points are chosen: " + strings.Join(sampler.Names(), ", ")},
			&cli.BoolFlag{Name: "resume", DisableDefaultText: true, Usage: "go on with the last study of the same kernel, workload and sources"},
			&cli.BoolFlag{Name: "cold", DisableDefaultText: true, Usage: "learn nothing from earlier studies, and measure anew what was measured today"},
			&cli.IntFlag{Name: "lanes", DefaultText: "one per core", Usage: "how many compilers run at once"},
			&cli.IntFlag{Name: "samples", Value: 5, Usage: "the fewest samples of a trial; a promising one gets more"},
			&cli.IntFlag{Name: "finalists", Value: 5, Usage: "how many points are confirmed"},
			&cli.IntFlag{Name: "rounds", Value: 10, Usage: "how many rounds of confirmation, each in fresh processes"},
		},
		Action: func(c *cli.Context) error { return tune(c, env) },
	}
}

func tune(c *cli.Context, env environment) error {
	if err := checkTuneFlags(c); err != nil {
		return err
	}
	display := newDisplay(env.stderr)
	ctx, interruption, done := interruptible(c.Context, env, display)
	defer done()
	c.Context = ctx
	s, err := openSubject(c, env)
	if err != nil {
		return err
	}
	defer func() { s.close() }()
	store, err := openStore(c.Context, c, env)
	if err != nil {
		return err
	}
	defer store.Close()
	s, study, past, unlock, err := chooseStudy(c, env, store, s)
	if err != nil {
		return err
	}
	defer unlock()
	interruption.polite.Store(true)
	if err := runSearch(c, store, s, study, past, display, interruption.stop); err != nil {
		return err
	}
	return conclude(c, env, store, study.ID, interruption.stopped())
}

func checkTuneFlags(c *cli.Context) error {
	for _, name := range []string{"trials", "lanes"} {
		if c.IsSet(name) && c.Int(name) < 1 {
			return usagef("--%s must be at least 1", name)
		}
	}
	if c.IsSet("budget") && c.Duration("budget") <= 0 {
		return usagef("--budget must be positive")
	}
	if rounds := c.Int("rounds"); rounds < search.FewestRounds {
		return usagef("--rounds %d cannot confirm anything: at least %d are needed, and %d for a 95 %% interval", rounds, search.FewestRounds, stats.MinimumSamples(0.95))
	}
	if c.Int("finalists") < 1 || c.Int("samples") < 2 {
		return usagef("--finalists must be at least 1, --samples at least 2")
	}
	if _, err := parseTarget(c.String("target")); err != nil {
		return err
	}
	if _, err := parseShare(c.String("regret")); err != nil {
		return err
	}
	return checkSampler(c.String("sampler"))
}

// parseTarget reads a speedup such as 1.10x; none is 0.
func parseTarget(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	target, err := strconv.ParseFloat(strings.TrimSuffix(text, "x"), 64)
	if err != nil || !(target > 1) || math.IsInf(target, 0) {
		return 0, usagef("--target %q: a speedup above 1, such as 1.10x", text)
	}
	return target, nil
}

// parseShare reads a share such as 1% or 0.01; none is 0.
func parseShare(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share > 0 && share < 1) {
		return 0, usagef("--regret %q: a share between 0 and 1, such as 1%%", text)
	}
	return share, nil
}

func checkSampler(name string) error {
	if slices.Contains(sampler.Names(), name) {
		return nil
	}
	if guess := closest(name, sampler.Names()); guess != "" {
		return usagef("no sampler %q: did you mean %s?", name, guess)
	}
	return usagef("no sampler %q; there are %s", name, strings.Join(sampler.Names(), ", "))
}

// databaseName is the study database in the output folder.
const databaseName = kernels.DatabaseName

func openStore(ctx context.Context, c *cli.Context, env environment) (*studies.Store, error) {
	store, err := studies.Open(ctx, filepath.Join(c.String("out"), databaseName))
	if err != nil {
		return nil, err
	}
	printNotices(env, store)
	return store, nil
}

// printNotices says what is damaged in a database.
func printNotices(env environment, store *studies.Store) {
	for _, notice := range store.Notices {
		fmt.Fprintf(env.stderr, "pawl: %s\n", notice)
	}
}

func limits(c *cli.Context) (trials int, budget time.Duration) {
	trials, budget = c.Int("trials"), c.Duration("budget")
	if trials == 0 && budget == 0 {
		budget = defaultBudget
	}
	return trials, budget
}

// runSearch runs the search of one study.
func runSearch(c *cli.Context, store *studies.Store, s *subject, study studies.Study, past search.Past, display *display, stop <-chan struct{}) error {
	display.start(study, past, s.pool)
	trials, budget := limits(c)
	target, err := parseTarget(c.String("target"))
	if err != nil {
		return err
	}
	regret, err := parseShare(c.String("regret"))
	if err != nil {
		return err
	}
	earlier, err := memories(c, store, s, study)
	if err != nil {
		return err
	}
	result, err := search.Run(c.Context, s.pool, s.evaluator, store.Recorder(study.ID), past, search.Options{
		Sampler: study.Sampler, Seed: study.Seed, Trials: trials, Budget: budget, Target: target, Regret: regret, First: study.First, Earlier: earlier, Ahead: s.ahead, Lanes: c.Int("lanes"),
		Finalists: c.Int("finalists"), Rounds: c.Int("rounds"), Stop: stop, Observe: display.update,
	})
	display.finish()
	if finishErr := store.Finish(context.WithoutCancel(c.Context), study.ID, result); finishErr != nil {
		err = errors.Join(err, finishErr)
	}
	if err != nil {
		return explain(err, study)
	}
	return nil
}

// explain adds to an error what the user can do about it.
func explain(err error, study studies.Study) error {
	var nothing *search.NothingCompilesError
	if errors.As(err, &nothing) {
		return fmt.Errorf("%w\nThe search was ended to save your time. Mend the source or the flags in the manifest (flags: %s), or try another compiler with CC", err, study.Environment.Flags)
	}
	return fmt.Errorf("%w\nWhat was told is recorded as study %d; pawl tune --resume goes on", err, study.ID)
}

// conclude writes the reports of a study and prints the result.
func conclude(c *cli.Context, env environment, store *studies.Store, id int64, interrupted bool) error {
	ctx := context.WithoutCancel(c.Context)
	summary, err := summarise(ctx, store, id)
	if err != nil {
		return err
	}
	files, err := report.WriteAll(c.String("out"), summary)
	if err != nil {
		return fmt.Errorf("%w\nThe study itself is recorded: pawl report %d writes the report again", err, id)
	}
	if c.Bool("json") {
		if err := page.JSON(env.stdout, summary); err != nil {
			return err
		}
	} else if err := printSummary(env.stdout, summary, files); err != nil {
		return err
	}
	switch {
	case interrupted:
		return answer(exitInterrupted)
	case summary.Search.OK == 0:
		return answer(exitNothing)
	}
	return nil
}

func summarise(ctx context.Context, store *studies.Store, id int64) (*report.Summary, error) {
	study, err := store.Study(ctx, id)
	if err != nil {
		return nil, err
	}
	past, err := store.Past(ctx, id)
	if err != nil {
		return nil, err
	}
	summary, err := report.Summarise(study, past)
	if err != nil {
		return nil, fmt.Errorf("summarising study %d: %w", id, err)
	}
	return &summary, nil
}
