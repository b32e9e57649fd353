package cicmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate"
	"pawl/gate/ci"
	"pawl/gate/winner"
	"pawl/internal/escape"
	"pawl/objective/devices"
)

type againOptions struct{ console.Common }

func againCommand(env console.Environment) *cli.Command {
	o := againOptions{console.In(env)}
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
		Action: o.WithBuilder(o.measureAgain),
	}
}

func (o *againOptions) measureAgain(ctx context.Context, b *devices.Builder, arguments []string) error {
	kernel, err := console.KernelName(arguments)
	if err != nil {
		return err
	}
	store, err := o.OpenStudies(ctx)
	if errors.As(err, new(*devices.NothingError)) {
		fmt.Fprintln(o.Stdout, "no studies yet: nothing to measure again")
		return nil
	}
	if err != nil {
		return err
	}
	defer store.Close()
	outcome, err := winner.Remeasure(ctx, b, store,
		winner.RemeasureOptions{
			Kernel:   kernel,
			Workload: o.Workload,
			Backend:  o.Backend,
			Policy:   gate.Presets[gate.DefaultPreset],
		})
	if errors.Is(err, winner.ErrNoEarlier) {
		fmt.Fprintf(o.Stdout, "%s: %v\n", escape.Line(kernel), err)
		return nil
	}
	if err != nil {
		return err
	}
	if err := ci.Summarise(o.Getenv("GITHUB_STEP_SUMMARY"), outcome.Markdown()); err != nil {
		return err
	}
	return o.Show("pawl ci again", 1, outcome, func(w io.Writer) {
		fmt.Fprintln(w, escape.Line(outcome.Sentence()))
		for _, f := range outcome.Facts {
			fmt.Fprintf(w, "  %s: %s then, %s now\n", f.What, escape.Line(f.Then), escape.Line(f.Now))
		}
	})
}
