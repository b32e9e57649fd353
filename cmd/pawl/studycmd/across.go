package studycmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/studies"
	"pawl/studies/across"
)

type acrossOptions struct {
	console.Common
	kernel string
	rounds int // 0 for the study's
	budget time.Duration
}

func acrossCommand(env console.Environment) *cli.Command {
	var o acrossOptions
	return &cli.Command{
		Name: "across", Usage: "measure a study's winner on the kernel's other workloads", ArgsUsage: "[STUDY]",
		Description: console.Details(
			"Checks the winner and the default in full on every other workload of the kernel and measures them\n"+
				"against each other, interleaved, in fresh processes; then writes the study's report again. What was\n"+
				"measured is kept: after an interruption the same command goes on. The last study when none is named.",
			"pawl studies across 3 --budget 5m",
			"0 done", "2 no studies, no winner, or no other workload", "3 internal or environment error", "64 usage",
			"130 stopped"),
		Flags: append(o.Flags("out", "db", "cache", "json"),
			&cli.StringFlag{
				Name:        "kernel",
				Aliases:     []string{"k"},
				Destination: &o.kernel,
				DefaultText: "the one that the study names",
				Usage:       "the `FOLDER` of the kernel",
			},
			console.NumberOr("rounds", &o.rounds, 3, "the study's", "how many rounds on each workload"),
			console.TimeOr("budget", &o.budget, "no limit", "the `TIME` for all workloads")),
		Action: console.Action(func(ctx context.Context,
			arguments []string) error {
			return runAcross(ctx, env, o, arguments)
		}),
	}
}

func runAcross(ctx context.Context, env console.Environment, o acrossOptions, arguments []string) error {
	store, study, err := console.OpenStudy(ctx, env, o.Common, arguments)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, interruption, done := console.Interruptible(ctx, env, env.Stderr,
		fmt.Sprintf("pawl studies across %d", study.ID))
	defer done()
	interruption.Polite.Store(true)
	err = across.Run(ctx, store, study.ID, across.Options{
		Kernel: o.kernel, Rounds: o.rounds, Budget: o.budget, Cache: o.Cache,
		Getenv: env.Getenv, Notice: env.Notice, Begin: announceAcross(env), Stop: interruption.Stop,
	})
	if errors.As(err, new(*across.NothingError)) {
		return console.Nothingf("%w", err)
	}
	if err != nil {
		return err
	}
	if _, err := concludeStudy(context.WithoutCancel(ctx), env, o.Common, store, study.ID); err != nil {
		return err
	}
	if interruption.Stopped() {
		return console.Answer(console.ExitInterrupted)
	}
	return nil
}

func announceAcross(env console.Environment) func(studies.WorkloadFacts) {
	return func(w studies.WorkloadFacts) {
		fmt.Fprintf(env.Stderr, "measuring the winner and the default on workload %s (%s)\n", escape.Line(w.Name),
			escape.Line(w.Dims))
	}
}
