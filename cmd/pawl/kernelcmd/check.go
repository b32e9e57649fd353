package kernelcmd

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/objective"
	"pawl/objective/preflight"
)

func CheckCommand(env console.Environment) *cli.Command {
	o := console.In(env)
	return &cli.Command{
		Name:      "check",
		Usage:     "try a kernel's manifest, source, reference and default before a search",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Tries what can fail, in this order: the manifest, limits of the machine, compiling, small shapes,\n"+
				"every shape. It stops at the first failure and says what to do. With --arch no GPU is needed:\n"+
				"it stops after compiling.",
			"pawl check ./scale",
			"0 everything holds", "1 something does not", "3 the manifest is wrong, or internal or environment error",
			"64 usage"),
		Flags: o.Flags("workload", "backend", "compiler", "seed", "cache", "run-timeout", "compile-timeout",
			"json", "arch"),
		Action: console.Action(func(ctx context.Context, arguments []string) error {
			return check(ctx, &o, arguments)
		}),
	}
}

func check(ctx context.Context, o *console.Common, arguments []string) error {
	machine := o.Machine()
	t, err := o.Target(ctx, machine, arguments)
	if err != nil {
		return err
	}
	ctx, done := o.Stoppable(ctx)
	defer done()
	show := func(s preflight.Step) { printStep(o.Stdout, s) }
	if o.JSON {
		show = nil
	}
	report, err := preflight.Run(ctx, machine, t, preflight.Options{
		Options: objective.Options{Seed: o.Seed, RunTimeout: o.RunTimeout},
		Unrun:   o.Architecture != "",
	}, show)
	if err != nil {
		return err
	}
	if o.JSON {
		if err := report.JSON(o.Stdout); err != nil {
			return err
		}
	}
	if !report.Holds() {
		return console.Answer(console.ExitNo)
	}
	switch {
	case o.JSON:
	case o.Architecture != "":
		fmt.Fprintf(o.Stdout, "\nIt compiles for %s. Nothing was run: results are checked where there is such a GPU.\n",
			o.Architecture)
	default:
		fmt.Fprintf(o.Stdout, "\nEverything holds. Next: %s\n", escape.Shell("pawl", "tune", t.Kernel.Origin))
	}
	return nil
}

func printStep(w io.Writer, s preflight.Step) {
	if s.Failure == "" {
		fmt.Fprintf(w, "ok    %s: %s\n", s.Name, escape.Line(s.Found))
		return
	}
	fmt.Fprintf(w, "fails %s: %s\n      %s.\n", s.Name, escape.Line(s.Failure), s.Advice)
}
