// Package kernel has the commands for one kernel, without a search: begin or import one, look
// at its space, check, build, measure, profile and fuzz it, and ask whether this machine can.
package kernelcmd

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/objective/command"
	"pawl/objective/devices"
	"pawl/studies/report"
)

type benchOptions struct {
	console.Common
	rounds, samples int
	results         string // the file for the raw samples
	kinds           cli.StringSlice
	repeat          command.Repeat // of a command
	prepare         string
}

func BenchCommand(env console.Environment) *cli.Command {
	o := benchOptions{Common: console.In(env)}
	return &cli.Command{
		Name:      "bench",
		Usage:     "measure one point, or any command, in several fresh processes",
		ArgsUsage: "[KERNEL|FOLDER] | -- COMMAND…",
		Description: console.Details(
			"Checks the point's results, then measures it and writes the raw samples to a file. After --,\n"+
				"give one command with its arguments, which runs without a shell, or several quoted ones, which the shell\n"+
				"runs: their wall times are measured in turn and compared, and nothing is checked.",
			"pawl bench --warmup 3 -- 'sort a.txt' 'sort --parallel=2 a.txt'",
			"0 measured", "1 the point fails", "3 internal or environment error", "64 usage", "130 stopped"),
		Flags: append(o.Flags("at", "workload", "backend", "compiler", "caches", "lock-clocks", "seed", "cache", "json",
			"run-timeout", "compile-timeout"),
			console.Number("rounds", &o.rounds, 1, 10, "how many fresh processes"),
			console.Number("samples", &o.samples, 1, 20, "how many samples per process"),
			console.List("kind", &o.kinds, "only declared data",
				"also measure on a `KIND` of data, such as scaled; all for each that may occur"),
			console.Number("warmup", &o.repeat.Warmup, 0, 0, "for a command: how many runs come before those that count"),
			console.Text("prepare, p", &o.prepare, "",
				"for a command: a `COMMAND` for the shell before every run, which is not timed"),
			console.NumberOr("runs, r", &o.repeat.Runs, 1, "3 s, at least 10", "for a command: how many runs count"),
			console.Text("results, export-json", &o.results, "results/bench.json",
				"the `FILE` for the raw samples; of a command, written only where it is named")),
		Action: func(c *cli.Context) error {
			if o.Command != nil {
				if !c.IsSet("results") {
					o.results = ""
				}
				if c.IsSet("rounds") && !c.IsSet("runs") {
					o.repeat.Runs = o.rounds // each run is a process
				}
				return o.benchCommandLine(c.Context, c.Args().Slice(), c.IsSet("run-timeout"))
			}
			return o.WithBuilder(o.benchmark)(c)
		},
	}
}

// benchReport is what the command prints and writes.
type benchReport struct {
	*devices.PointMeasurement
	// Checked is what the point has passed before it was measured.
	Checked *report.Checked `json:"checked,omitempty"`
}

func (r benchReport) JSON(w io.Writer) error { return page.JSON(w, "pawl bench", 1, r) }

func (o *benchOptions) benchmark(ctx context.Context, b *devices.Builder, arguments []string) error {
	kernel, err := console.KernelName(arguments)
	if err != nil {
		return err
	}
	k, err := b.Machine.Load(ctx, kernel, o.Backend)
	if err != nil {
		return err
	}
	defer b.Machine.LockClocks(ctx, k, o.LockClocks, nil)()
	c, err := b.Open(ctx, k, o.Workload, o.At)
	if err != nil {
		return err
	}
	defer c.Close()
	kinds, err := kindsOf(k, o.kinds.Value())
	if err != nil {
		return err
	}
	m, failure, err := devices.MeasurePoint(ctx, c, o.rounds, o.samples, kinds...)
	if err != nil {
		return err
	}
	if failure != nil {
		fmt.Fprintf(o.Stdout, "%s at %s: %s\n", m.Kernel, m.Point, escape.Line(failure.String()))
		return console.Answer(console.ExitNo)
	}
	r := benchReport{m, report.NewChecked(m.Evidence)}
	if err := page.WriteFile(o.results, r.JSON); err != nil {
		return fmt.Errorf("the results: %w", err)
	}
	return o.Print(r.JSON, func(w io.Writer) {
		r.print(w)
		fmt.Fprintf(w, "wrote %s\n", o.results)
	})
}

// kindsOf are the kinds of data that are asked for by name.
func kindsOf(k *kernels.Kernel, asked []string) (kinds []string, err error) {
	known := k.Kinds()
	for _, name := range asked {
		switch {
		case name == "all":
			kinds = append(kinds, known...)
		case name == arguments.Declared: // is always measured
		case !slices.Contains(known, name):
			return nil, console.Unknown("--kind", name, append([]string{arguments.Declared, "all"}, known...))
		default:
			kinds = append(kinds, name)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds), nil
}

// warnings are what a reader should know before trusting the figures.
func (r benchReport) warnings() []string {
	var found []string
	if r.CV > report.NoisyVariation {
		found = append(found, fmt.Sprintf("times vary by %s: the machine is noisy", page.WholePercent(r.CV)))
	}
	if !r.Interval.Bounded() {
		found = append(found,
			fmt.Sprintf("a 95 %% interval takes at least %d processes (--rounds)", devices.FewestProcesses))
	}
	if drift := page.Drift(r.Drift, r.Variation); drift != "" {
		found = append(found, "inside a process, the kernel "+drift)
	}
	return append(found, r.Conditions.Warnings("kernel")...)
}

func (r benchReport) print(w io.Writer) {
	o := r.Environment.Objective
	fmt.Fprintf(w,
		"%s, workload %s, at %s\n%s, 95 %% interval: %s, over %d processes of %d samples (CV %s, robust CV %s)\n",
		r.Kernel, r.Workload, r.Point, o.Text(r.Milliseconds), o.Interval(r.Interval),
		len(r.Rounds), len(r.Rounds[0]), page.Percent(r.CV),
		page.RobustCV(page.Percent(r.Variation), len(r.Rounds)*len(r.Rounds[0])))
	fmt.Fprintf(w, "p50 %s, p95 %s, p99 %s, least %s\n", o.Text(r.P50),
		o.Text(r.P95), o.Text(r.P99), o.Text(r.Least))
	timed := &report.Timed{Gigaflops: r.Gigaflops, Gigabytes: r.Gigabytes, Roofline: r.Roofline, Resources: r.Resources}
	r.printKinds(w)
	for _, line := range []string{report.Throughput(timed), timed.Needs()} {
		if line != "" && line != page.Unknown {
			fmt.Fprintln(w, line)
		}
	}
	if r.Checked != nil {
		fmt.Fprintln(w, "checked on "+r.Checked.Text())
	}
	if r.Conditions != nil {
		fmt.Fprintln(w, r.Conditions)
	}
	for _, warning := range r.warnings() {
		fmt.Fprintln(w, "Warning: "+warning)
	}
}

func (r benchReport) printKinds(w io.Writer) {
	if len(r.Kinds) == 0 {
		return
	}
	o := r.Environment.Objective
	rows := [][]string{{arguments.Declared, o.Text(r.Milliseconds), o.Interval(r.Interval), ""}}
	for _, k := range r.Kinds {
		rows = append(rows, []string{k.Kind, o.Text(k.Milliseconds), o.Interval(k.Interval),
			page.Change(k.Milliseconds/r.Milliseconds - 1)})
	}
	page.Table(w, []string{"data", "median", "95 % interval", "to declared"}, rows)
}
