package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/gate"
	"pawl/gate/ci"
	"pawl/gate/winner/again"
	"pawl/internal/escape"
	"pawl/internal/page"
)

func ciAgainCommand(env environment) *cli.Command {
	var o common
	return &cli.Command{
		Name:      "again",
		Usage:     "measure the last study's winner again, before a new search",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: details(
			"Tells a change of driver or compiler from a change of code: the winner of the last study of the kernel,\n"+
				"the workload and this device is measured as it was then, and what differs is named. Where there is no\n"+
				"such study, it says so. The sentence also goes to $GITHUB_STEP_SUMMARY.",
			"pawl ci again attention --workload chat_256",
			"0 measured, or nothing to measure", "3 pawl could not do its work", "64 usage", "130 stopped"),
		Flags: o.flags("workload", "backend", "compiler", "cache", "out", "json", "seed", "run-timeout", "compile-timeout"),
		Action: action(func(ctx context.Context, arguments []string) error {
			kernel, err := kernelName(arguments)
			if err != nil {
				return err
			}
			return measureAgain(ctx, env, o, kernel)
		}),
	}
}

func measureAgain(ctx context.Context, env environment, o common, kernel string) error {
	store, err := openStudies(ctx, env, o.out)
	var empty nothing
	if errors.As(err, &empty) {
		fmt.Fprintln(env.stdout, "no studies yet: nothing to measure again")
		return nil
	}
	if err != nil {
		return err
	}
	defer store.Close()
	b, err := o.builder(env)
	if err != nil {
		return err
	}
	defer b.Close()
	ctx, done := stoppable(ctx, env)
	defer done()
	outcome, err := again.Measure(ctx, b, store, again.Options{Kernel: kernel, Workload: o.workload, Backend: o.backend, Policy: gate.Presets[gate.DefaultPreset]})
	switch {
	case errors.Is(err, again.ErrNone):
		fmt.Fprintf(env.stdout, "%s: %v\n", escape.Line(kernel), err)
		return nil
	case ctx.Err() != nil:
		return answer(exitInterrupted)
	case err != nil:
		return err
	}
	if err := ci.Summarise(env.getenv("GITHUB_STEP_SUMMARY"), outcome.Markdown()); err != nil {
		return err
	}
	if o.json {
		return page.JSON(env.stdout, outcome)
	}
	fmt.Fprintln(env.stdout, escape.Line(outcome.Sentence()))
	for _, f := range outcome.Facts {
		fmt.Fprintf(env.stdout, "  %s: %s then, %s now\n", f.What, escape.Line(f.Then), escape.Line(f.Now))
	}
	return nil
}
