package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/ladder"
)

func checkCommand(env environment) *cli.Command {
	var o common
	return &cli.Command{
		Name:      "check",
		Usage:     "try a kernel's manifest, source, reference and default before a search",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: details(
			"Walks from the manifest to the workload in the order in which things go wrong, and stops at\n"+
				"the first that does not hold, with what to do.",
			"pawl check ./scale",
			"0 everything holds", "1 something does not", "3 the manifest is wrong, or pawl could not do its work", "64 usage"),
		Flags:  o.flags("workload", "backend", "compiler", "seed", "cache", "run-timeout", "compile-timeout", "json"),
		Action: action(func(ctx context.Context, arguments []string) error { return runCheck(ctx, env, o, arguments) }),
	}
}

func runCheck(ctx context.Context, env environment, o common, arguments []string) error {
	machine := o.machine(env)
	t, err := o.target(ctx, machine, arguments)
	if err != nil {
		return err
	}
	ctx, done := stoppable(ctx, env)
	defer done()
	show := func(r ladder.Rung) { printRung(env.stdout, r) }
	if o.json {
		show = nil
	} else {
		printRung(env.stdout, ladder.Rung{Name: "the manifest makes sense", Found: fmt.Sprintf("%s, workload %s (%s)", t.Kernel.Name, t.Workload.Name, t.Workload.Dims)})
	}
	l, err := ladder.Climb(ctx, machine, t, objective.Options{Seed: o.seed, RunTimeout: o.runTimeout}, show)
	switch {
	case err != nil:
		return err
	case o.json:
		if err := page.JSON(env.stdout, l); err != nil {
			return err
		}
	case l.Holds():
		fmt.Fprintf(env.stdout, "\nEverything holds. Next: %s\n", escape.Shell("pawl", "tune", t.Kernel.Origin))
	}
	if !l.Holds() {
		return answer(exitNo)
	}
	return nil
}

func printRung(w io.Writer, r ladder.Rung) {
	if r.Failure == "" {
		fmt.Fprintf(w, "ok    %s: %s\n", r.Name, escape.Line(r.Found))
		return
	}
	fmt.Fprintf(w, "fails %s: %s\n      %s.\n", r.Name, escape.Line(r.Failure), r.Advice)
}
