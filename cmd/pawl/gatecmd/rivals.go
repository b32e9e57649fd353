package gatecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/page"
	"pawl/objective/devices"
	"pawl/studies/rivals"
	"pawl/studies/tune"
)

type rivalsOptions struct {
	console.Common
	race    rivals.Options
	points  cli.StringSlice
	results string
}

func RivalsCommand(env console.Environment) *cli.Command {
	o := rivalsOptions{Common: console.In(env)}
	return &cli.Command{
		Name:      "rivals",
		Usage:     "measure a kernel beside other programs that do the same",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Measures the rivals that the manifest names, the last study's winner and the default in one run,\n"+
				"interleaved, on the same inputs, and checks the rivals' results against the kernel's reference. A missing\n"+
				"or wrong rival is listed with the reason. docs/rivals.md describes how to write a rival.",
			"pawl rivals gemm --workload square_8192 --rounds 10",
			"0 no rival is faster", "1 a rival is faster than the kernel's best point", "2 no rival could be measured",
			"3 internal or environment error", "64 usage", "130 stopped"),
		Flags: append(o.Flags("backend", "compiler", "caches", "seed", "order-seed", "out", "db", "cache", "json",
			"run-timeout", "compile-timeout", "workloads"),
			console.List("at", &o.points, "the last study's winner, and the default",
				"a `POINT` of the kernel to measure; may be given again"),
			console.Number("rounds", &o.race.Rounds, 1, 10, "how often every side is measured"),
			console.Number("samples", &o.race.Samples, 1, 20, "how many samples each gives in a round"),
			console.Time("answer-timeout", &o.race.Patience, 2*time.Minute, "how long a rival may take for one answer"),
			console.Text("results", &o.results, "results/rivals.json", "the `FILE` for the raw samples")),
		Action: o.WithBuilder(o.runRivals),
	}
}

func (o *rivalsOptions) runRivals(ctx context.Context, b *devices.Builder, arguments []string) error {
	kernel, err := console.KernelName(arguments)
	if err != nil {
		return err
	}
	workloads := []string{o.Workload}
	if o.Workload != "" {
		if workloads, err = tune.Workloads(ctx, o.Tools(), kernel, o.Backend, o.Workload); err != nil {
			return err
		}
	}
	k, err := b.Machine.Load(ctx, kernel, o.Backend)
	if err != nil {
		return err
	}
	if len(k.Rivals) == 0 {
		return devices.Nothingf("kernel %s names no rivals: its manifest may, see docs/rivals.md", k.Name)
	}
	if why := rivals.Impossible(k); why != "" {
		return devices.Nothingf("kernel %s cannot be measured beside others: %s", k.Name, why)
	}
	var results []*rivals.Result
	for _, workload := range workloads {
		target, err := devices.NewTarget(k, workload)
		if err != nil {
			return err
		}
		r, err := o.measure(ctx, b, target)
		if err != nil {
			return err
		}
		if results = append(results, r); !o.JSON {
			printRivals(o.Stdout, r)
		}
		// After each, so that a later one loses nothing.
		if err := page.WriteFile(o.results, func(w io.Writer) error { return rivalsJSON(w, results) }); err != nil {
			return fmt.Errorf("the results: %w", err)
		}
	}
	if !o.JSON {
		fmt.Fprintf(o.Stdout, "wrote %s\n", o.results)
	} else if err := rivalsJSON(o.Stdout, results); err != nil {
		return err
	}
	return rivalsAnswer(results)
}

// measure measures on one workload.
func (o *rivalsOptions) measure(ctx context.Context, b *devices.Builder,
	target devices.Target) (*rivals.Result, error) {
	points, err := o.chosen(ctx, target)
	if err != nil {
		return nil, err
	}
	show, clear := console.ProgressLine(o.Stderr)
	defer clear()
	race := o.race
	race.Kernel, race.Workload, race.Points, race.Seed = target.Kernel, target.Workload.Name, points, o.Order()
	race.Observe = func(round, rounds int) {
		show(fmt.Sprintf("%s: round %d of %d", target.Workload.Name, round+1, rounds))
	}
	r, err := rivals.Run(ctx, b, race)
	if err != nil || points[0].Study == 0 {
		return r, err
	}
	store, err := o.OpenStudies(ctx)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return r, r.Record(ctx, store, points[0].Study)
}

func rivalsJSON(w io.Writer, results []*rivals.Result) error {
	return page.JSON(w, "pawl rivals", 1, page.List("results", results))
}

// rivalsAnswer is the exit code for all workloads.
func rivalsAnswer(results []*rivals.Result) error {
	compared := 0
	for _, r := range results {
		if r.Beaten() {
			return console.Answer(console.ExitNo)
		}
		compared += r.Compared()
	}
	if compared == 0 {
		return console.Answer(console.ExitNothing)
	}
	return nil
}

// chosen returns the points that the flags name, or the last winner and the default.
func (o *rivalsOptions) chosen(ctx context.Context, target devices.Target) (points []rivals.Point, err error) {
	for i, at := range o.points.Value() {
		points = append(points, rivals.Point{Name: fmt.Sprintf("ours %d", i+1), At: at})
	}
	if len(points) > 0 {
		return points, nil
	}
	points = []rivals.Point{{Name: "default"}}
	store, err := o.OpenStudies(ctx)
	if errors.As(err, new(*devices.NothingError)) {
		o.Notice("no study has tuned this kernel yet: using the default point (" + o.Pawl("tune", target.Kernel.Origin) +
			" finds a better one)")
		return points, nil
	}
	if err != nil {
		return nil, err
	}
	defer store.Close()
	tuned, err := rivals.Tuned(ctx, store, target)
	if err != nil || tuned == nil {
		return points, err
	}
	return append([]rivals.Point{*tuned}, points...), nil
}

func printRivals(w io.Writer, r *rivals.Result) {
	fmt.Fprintf(w, "%s, workload %s, on %s\n\n", r.Kernel, r.Workload, r.Environment.Device)
	var rows [][]string
	for i, s := range r.Sides {
		row := []string{s.Name, page.Unknown, page.Unknown, page.Unknown, page.Unknown, s.Verdict()}
		if s.Milliseconds > 0 {
			row[1], row[2] = page.Milliseconds(s.Milliseconds), page.TimeInterval(s.Interval)
		}
		if s.Speedup != nil {
			row[3], row[4] = fmt.Sprintf("%.2f×", s.Speedup.Ratio), page.RatioInterval(s.Speedup.Interval)
		}
		if i == r.Best {
			row[5] = "our best"
		}
		rows = append(rows, row)
	}
	page.Table(w, []string{"", "median", "95 % interval", "our best is", "95 % interval", ""}, rows)
	fmt.Fprintf(w,
		"\nThe same inputs for all; rounds interleaved; results of rivals checked against the kernel's reference.\n")
	for _, s := range r.Sides {
		if s.Point != "" {
			fmt.Fprintf(w, "%s: %s\n", s.Name, s.Point)
		}
	}
	fmt.Fprintln(w)
}
