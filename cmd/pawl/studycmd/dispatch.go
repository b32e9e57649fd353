package studycmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/kernels"
	"pawl/objective/devices"
	"pawl/studies/apply"
	"pawl/studies/dispatch"
	"pawl/studies/tune"
)

type dispatchOptions struct {
	console.Common
	points, finalists, rounds int // 0 for the library's own
	worstLoss, prefix, to     string
	with                      cli.StringSlice
	python                    bool
	budget                    time.Duration
}

func DispatchCommand(env console.Environment) *cli.Command {
	var o dispatchOptions
	return &cli.Command{
		Name: "dispatch", Usage: "choose the few points to ship for all workloads, and write a header that selects them",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Takes the winners of the studies of all workloads (pawl tune --workload all) and the default, checks\n"+
				"each in full on every workload and measures them there against each other, interleaved, in fresh\n"+
				"processes. Says what shipping 1, 2, 3 or all of them costs, and writes what a library needs: a header\n"+
				"for C and C++ with a function that selects by device and sizes, the same as JSON, and a CMake file.\n"+
				"What was measured is kept: after an interruption the same command goes on.",
			"pawl dispatch matmul --points 2",
			"0 done", "2 a workload has no study, or no candidate works on it", "3 internal or environment error", "64 usage",
			"130 stopped"),
		Flags: append(o.Flags("backend", "out", "db", "cache", "json"),
			&cli.StringFlag{
				Name:        "workload",
				Aliases:     []string{"w"},
				Destination: &o.Workload,
				DefaultText: "all",
				Usage:       "the `NAMES` of the workloads to cover, separated by commas; sizes and ranges as in pawl tune",
			},
			console.NumberOr("points", &o.points, 1, "as few as --worst-loss allows", "ship at most this `NUMBER` of points"),
			console.Text("worst-loss", &o.worstLoss, apply.DefaultWorstLoss,
				"how much longer than with its best point a workload may take, as a `SHARE`"),
			console.Number("finalists", &o.finalists, 1, 1, "how many points of each study are candidates"),
			console.NumberOr("rounds", &o.rounds, 3, "the studies'", "how many rounds on each workload"),
			console.TimeOr("budget", &o.budget, "no limit", "the `TIME` for measuring"),
			&cli.StringSliceFlag{
				Name:        "with",
				Destination: &o.with,
				Usage:       "join the table that another machine has written as JSON into this `FILE`; may be repeated",
			},
			console.Switch("python", &o.python,
				"write a Python module too, which looks values up and stands in for triton.autotune without tuning"),
			console.TextOr("prefix", &o.prefix, "the kernel's name and _dispatch",
				"the `NAME` that all names in the header begin with"),
			console.TextOr("to", &o.to, "the kernel's, below that of --out", "the `FOLDER` for the header")),
		Action: console.Action(func(ctx context.Context,
			arguments []string) error {
			return runDispatch(ctx, env, o, arguments)
		}),
	}
}

// dispatched is the result of pawl dispatch for programs.
type dispatched struct {
	*dispatch.Plan
	Table *dispatch.Table `json:"table"`
	Files []string        `json:"files"`
}

func runDispatch(ctx context.Context, env console.Environment, o dispatchOptions, arguments []string) error {
	name, err := console.KernelName(arguments)
	if err != nil {
		return err
	}
	workloads, err := chosenWorkloads(ctx, env, o.Common, name)
	if err != nil {
		return err
	}
	store, err := console.OpenStudies(ctx, env, o.Common)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, interruption, done := console.Interruptible(ctx, env, env.Stderr, "the same command")
	defer done()
	interruption.Polite.Store(true)
	plan, err := dispatch.Run(ctx, store, dispatch.Options{
		Kernel: name, Backend: o.Backend, Workloads: workloads, Points: o.points, WorstLoss: o.worstLoss,
		Finalists: o.finalists,
		Rounds:    o.rounds, Budget: o.budget, Cache: o.Cache, Getenv: env.Getenv, Notice: env.Notice,
		Stop: interruption.Stop,
		Begin: func(w kernels.Workload, candidates int) {
			fmt.Fprintf(env.Stderr, "measuring %d candidates on workload %s (%s)\n", candidates, escape.Line(w.Name),
				escape.Line(w.Dims.String()))
		},
	})
	switch {
	case errors.As(err, new(*dispatch.NothingError)):
		return console.Nothingf("%w", err)
	case errors.As(err, new(*dispatch.StoppedError)):
		env.Notice(err.Error() + "; the same command goes on")
		return console.Answer(console.ExitInterrupted)
	case err != nil:
		return err
	}
	return o.write(env, plan)
}

// write writes the table of a plan, and prints what came of it.
func (o *dispatchOptions) write(env console.Environment, plan *dispatch.Plan) error {
	table, err := plan.Table(o.prefix)
	if err != nil {
		return console.Usage(err)
	}
	for _, path := range o.with.Value() {
		if err := table.Join(path); err != nil {
			return err
		}
	}
	folder := o.to
	if folder == "" {
		folder = filepath.Join(o.Out, escape.FileName(plan.Kernel))
	}
	files, err := table.Write(folder, o.python)
	if err != nil {
		return err
	}
	if o.JSON {
		return page.JSON(env.Stdout, "pawl dispatch", 1, dispatched{plan, table, files})
	}
	if err := dispatch.Text(env.Stdout, plan); err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout)
	for _, path := range files {
		fmt.Fprintf(env.Stdout, "wrote %s\n", escape.Line(path))
	}
	return nil
}

// chosenWorkloads returns the workloads that --workload names, none for all.
func chosenWorkloads(ctx context.Context, env console.Environment, o console.Common, kernel string) ([]string, error) {
	if o.Workload == "" {
		return nil, nil
	}
	return tune.Workloads(ctx,
		devices.Options{Compiler: devices.Compilers[0], Cache: o.Cache, Getenv: env.Getenv, Notice: env.Notice}, kernel,
		o.Backend, o.Workload)
}
