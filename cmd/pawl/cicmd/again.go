package cicmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate"
	"pawl/gate/ci"
	"pawl/gate/winner"
	"pawl/internal/escape"
	"pawl/internal/page"
)

func againCommand(env console.Environment) *cli.Command {
	var o console.Common
	return &cli.Command{
		Name:      "again",
		Usage:     "measure the last study's winner again, before a new search",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Tells a change of driver or compiler from a change of code: the winner of the last study of the kernel,\n"+
				"the workload and this device is measured as it was then, and what differs is named. Where there is no\n"+
				"such study, it says so. The sentence also goes to $GITHUB_STEP_SUMMARY.",
			"pawl ci again attention --workload chat_256",
			"0 measured, or nothing to measure", "3 internal or environment error", "64 usage", "130 stopped"),
		Flags: o.Flags("workload", "backend", "compiler", "cache", "out", "db", "json", "seed", "run-timeout",
			"compile-timeout"),
		Action: console.Action(func(ctx context.Context, arguments []string) error {
			kernel, err := console.KernelName(arguments)
			if err != nil {
				return err
			}
			return measureAgain(ctx, env, o, kernel)
		}),
	}
}

func measureAgain(ctx context.Context, env console.Environment, o console.Common, kernel string) error {
	store, err := console.OpenStudies(ctx, env, o)
	if errors.As(err, new(console.Nothing)) {
		fmt.Fprintln(env.Stdout, "no studies yet: nothing to measure again")
		return nil
	}
	if err != nil {
		return err
	}
	defer store.Close()
	b, err := o.Builder(env)
	if err != nil {
		return err
	}
	defer b.Close()
	ctx, done := console.Stoppable(ctx, env)
	defer done()
	outcome, err := winner.Remeasure(ctx, b, store,
		winner.RemeasureOptions{
			Kernel:   kernel,
			Workload: o.Workload,
			Backend:  o.Backend,
			Policy:   gate.Presets[gate.DefaultPreset],
		})
	switch {
	case errors.Is(err, winner.ErrNoEarlier):
		fmt.Fprintf(env.Stdout, "%s: %v\n", escape.Line(kernel), err)
		return nil
	case ctx.Err() != nil:
		return console.Answer(console.ExitInterrupted)
	case err != nil:
		return err
	}
	if err := ci.Summarise(env.Getenv("GITHUB_STEP_SUMMARY"), outcome.Markdown()); err != nil {
		return err
	}
	if o.JSON {
		return page.JSON(env.Stdout, "pawl ci again", 1, outcome)
	}
	fmt.Fprintln(env.Stdout, escape.Line(outcome.Sentence()))
	for _, f := range outcome.Facts {
		fmt.Fprintf(env.Stdout, "  %s: %s then, %s now\n", f.What, escape.Line(f.Then), escape.Line(f.Now))
	}
	return nil
}
