package kernel

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/objective/ladder"
)

func CheckCommand(env console.Environment) *cli.Command {
	var o console.Common
	return &cli.Command{
		Name:      "check",
		Usage:     "try a kernel's manifest, source, reference and default before a search",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Walks from the manifest to the workload in the order in which things go wrong, and stops at\n"+
				"the first that does not hold, with what to do.",
			"pawl check ./scale",
			"0 everything holds", "1 something does not", "3 the manifest is wrong, or internal or environment error", "64 usage"),
		Flags: o.Flags("workload", "backend", "compiler", "seed", "cache", "run-timeout", "compile-timeout", "json"),
		Action: console.Action(func(ctx context.Context,
			arguments []string) error {
			return runCheck(ctx, env, o, arguments)
		}),
	}
}

func runCheck(ctx context.Context, env console.Environment, o console.Common, arguments []string) error {
	machine := o.Machine(env)
	t, err := o.Target(ctx, machine, arguments)
	if err != nil {
		return err
	}
	if !o.JSON {
		printRung(env.Stdout,
			ladder.Rung{
				Name:  "the manifest makes sense",
				Found: fmt.Sprintf("%s, workload %s (%s)", t.Kernel.Name, t.Workload.Name, t.Workload.Dims),
			})
	}
	l, err := climb(ctx, env, o, machine, t, ladder.Climb)
	if err != nil {
		return err
	}
	return concludeLadder(env, o, t, l)
}

// climb walks a kernel up a ladder, and prints each rung unless JSON is wanted.
func climb(ctx context.Context, env console.Environment, o console.Common, machine *devices.Machine, t devices.Target,
	up func(context.Context, *devices.Machine, devices.Target, objective.Options,
		func(ladder.Rung)) (*ladder.Ladder, error)) (*ladder.Ladder, error) {
	ctx, done := console.Stoppable(ctx, env)
	defer done()
	show := func(r ladder.Rung) { printRung(env.Stdout, r) }
	if o.JSON {
		show = nil
	}
	return up(ctx, machine, t, objective.Options{Seed: o.Seed, RunTimeout: o.RunTimeout}, show)
}

// concludeLadder says what to do next; the answer is no where a rung does not hold.
func concludeLadder(env console.Environment, o console.Common, t devices.Target, l *ladder.Ladder) error {
	if o.JSON {
		if err := page.JSON(env.Stdout, l); err != nil {
			return err
		}
	}
	if !l.Holds() {
		return console.Answer(console.ExitNo)
	}
	if !o.JSON {
		fmt.Fprintf(env.Stdout, "\nEverything holds. Next: %s\n", escape.Shell("pawl", "tune", t.Kernel.Origin))
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
