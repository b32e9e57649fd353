package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/internal/escape"
	"pawl/studies"
	"pawl/studies/across"
)

// acrossOptions are the flags of pawl studies across.
type acrossOptions struct {
	common
	kernel string
	rounds int // 0 for the study's
	budget time.Duration
}

func studiesAcrossCommand(env environment) *cli.Command {
	var o acrossOptions
	return &cli.Command{
		Name: "across", Usage: "measure a study's winner on the kernel's other workloads", ArgsUsage: "[STUDY]",
		Description: details(
			"Checks the winner and the default in full on every other workload of the kernel and measures them\n"+
				"against each other, interleaved, in fresh processes; then writes the study's report again. What was\n"+
				"measured is kept: after an interruption the same command goes on. The last study when none is named.",
			"pawl studies across 3 --budget 5m",
			"0 done", "2 no study, no winner, or no other workload", "3 pawl could not do its work", "64 usage", "130 stopped"),
		Flags: append(o.flags("out", "cache", "json"),
			&cli.StringFlag{Name: "kernel", Aliases: []string{"k"}, Destination: &o.kernel, DefaultText: "the one that the study names", Usage: "the `FOLDER` of the kernel"},
			&cli.IntFlag{Name: "rounds", Destination: &o.rounds, DefaultText: "the study's", Action: atLeast("rounds", 3), Usage: "how many rounds on each workload"},
			&cli.DurationFlag{Name: "budget", Destination: &o.budget, DefaultText: "no limit", Usage: "the `TIME` for all workloads"}),
		Action: action(func(ctx context.Context, arguments []string) error { return runAcross(ctx, env, o, arguments) }),
	}
}

func runAcross(ctx context.Context, env environment, o acrossOptions, arguments []string) error {
	store, study, err := openStudy(ctx, env, o.out, arguments)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, interruption, done := interruptibleBy(ctx, env, env.stderr, fmt.Sprintf("pawl studies across %d", study.ID))
	defer done()
	interruption.polite.Store(true)
	err = across.Run(ctx, store, study.ID, across.Options{
		Kernel: o.kernel, Rounds: o.rounds, Budget: o.budget, Cache: o.cache,
		Getenv: env.getenv, Notice: env.notice, Begin: announceAcross(env), Stop: interruption.stop,
	})
	var nothing *across.NothingError
	if errors.As(err, &nothing) {
		return nothingf("%w", err)
	}
	if err != nil {
		return err
	}
	if _, err := concludeStudy(context.WithoutCancel(ctx), env, o.common, store, study.ID); err != nil {
		return err
	}
	if interruption.stopped() {
		return answer(exitInterrupted)
	}
	return nil
}

// announceAcross says which workload the winner is measured on.
func announceAcross(env environment) func(studies.WorkloadFacts) {
	return func(w studies.WorkloadFacts) {
		fmt.Fprintf(env.stderr, "measuring the winner and the default on workload %s (%s)\n", escape.Line(w.Name), escape.Line(w.Dims))
	}
}
