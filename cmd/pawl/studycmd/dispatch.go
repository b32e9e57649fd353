package studycmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/kernels"
	"pawl/studies/apply"
	"pawl/studies/dispatch"
	"pawl/studies/tune"
)

type dispatchOptions struct {
	console.Common
	plan       dispatch.Options
	prefix, to string
	with       cli.StringSlice
	python     bool
}

func DispatchCommand(env console.Environment) *cli.Command {
	o := dispatchOptions{Common: console.In(env)}
	return &cli.Command{
		Name: "dispatch", Usage: "choose the few points to ship for all workloads, and write a header that selects them",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Takes the winners of the studies of all workloads (pawl tune --workload all) and the default, checks\n"+
				"each in full on every workload and measures them there against each other, interleaved, in fresh\n"+
				"processes. Says what shipping 1, 2, 3 or all of them costs, and writes what a library needs: a header\n"+
				"for C and C++ with a function that selects by device and sizes, the same as JSON, and a CMake file.\n"+
				"What was measured is kept; after an interruption, the same command continues.",
			"pawl dispatch matmul --points 2",
			"0 done", "2 a workload has no study, or no candidate works on it", "3 internal or environment error", "64 usage",
			"130 stopped"),
		Flags: append(o.Flags("backend", "out", "db", "cache", "json"),
			console.TextOr("workload, w", &o.Workload, "all",
				"the `NAMES` of the workloads to cover, separated by commas; sizes and ranges as in pawl tune"),
			console.NumberOr("points", &o.plan.Points, 1, "as few as --worst-loss allows",
				"ship at most this `NUMBER` of points"),
			console.Text("worst-loss", &o.plan.WorstLoss, apply.DefaultWorstLoss,
				"how much longer than with its best point a workload may take, as a `SHARE`"),
			console.Number("finalists", &o.plan.Finalists, 1, 1, "how many points of each study are candidates"),
			console.NumberOr("rounds", &o.plan.Rounds, 3, "the studies'", "how many rounds on each workload"),
			console.TimeOr("budget", &o.plan.Budget, "no limit", "the `TIME` for measuring"),
			console.List("with", &o.with, "",
				"join the table that another machine has written as JSON into this `FILE`; may be repeated"),
			console.Switch("python", &o.python,
				"write a Python module too, which looks values up and stands in for triton.autotune without tuning"),
			console.TextOr("prefix", &o.prefix, "the kernel's name and _dispatch",
				"the `NAME` that all names in the header begin with"),
			console.TextOr("to", &o.to, "the kernel's, below that of --out", "the `FOLDER` for the header")),
		Action: console.Action(o.runDispatch),
	}
}

// dispatched is the result of pawl dispatch for programs.
type dispatched struct {
	*dispatch.Plan
	Table *dispatch.Table `json:"table"`
	Files []string        `json:"files"`
}

func (o *dispatchOptions) runDispatch(ctx context.Context, arguments []string) error {
	name, err := console.KernelName(arguments)
	if err != nil {
		return err
	}
	workloads, err := o.chosenWorkloads(ctx, name)
	if err != nil {
		return err
	}
	store, err := o.OpenStudies(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, interruption, done := o.Interruptible(ctx, o.Stderr, "the same command")
	defer done()
	interruption.Polite.Store(true)
	d := o.plan
	d.Kernel, d.Backend, d.Workloads, d.Tools, d.Stop = name, o.Backend, workloads, o.Tools(), interruption.Stop.Done()
	d.Begin = func(w kernels.Workload, candidates int) {
		fmt.Fprintf(o.Stderr, "measuring %d candidates on workload %s (%s)\n", candidates, escape.Line(w.Name),
			escape.Line(w.Dims.String()))
	}
	plan, err := dispatch.Run(ctx, store, d)
	if errors.As(err, new(*dispatch.StoppedError)) {
		o.Notice(err.Error() + "; the same command continues")
		return console.Answer(console.ExitInterrupted)
	}
	if err != nil {
		return err
	}
	return o.write(plan)
}

// write writes the table of a plan, and prints what came of it.
func (o *dispatchOptions) write(plan *dispatch.Plan) error {
	table, err := plan.Table(o.prefix)
	if err != nil {
		return console.Usage(err)
	}
	for _, path := range o.with.Value() {
		if err := table.Join(path); err != nil {
			return err
		}
	}
	folder := cmp.Or(o.to, filepath.Join(o.Out, escape.FileName(plan.Kernel)))
	files, err := table.Write(folder, o.python)
	if err != nil {
		return err
	}
	return o.Show("pawl dispatch", 1, dispatched{plan, table, files}, func(w io.Writer) {
		dispatch.Text(w, plan)
		fmt.Fprintln(w)
		for _, path := range files {
			fmt.Fprintf(w, "wrote %s\n", escape.Line(path))
		}
	})
}

// chosenWorkloads returns the workloads that --workload names, none for all.
func (o *dispatchOptions) chosenWorkloads(ctx context.Context, kernel string) ([]string, error) {
	if o.Workload == "" {
		return nil, nil
	}
	return tune.Workloads(ctx, o.Tools(), kernel, o.Backend, o.Workload)
}
