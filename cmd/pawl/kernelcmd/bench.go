// Package kernel has the commands for one kernel, without a search: begin or import one, look
// at its space, check, build, measure, profile and fuzz it, and ask whether this machine can.
package kernelcmd

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective/command"
	"pawl/objective/devices"
	"pawl/studies/report"
)

// benchOptions are the flags of pawl bench.
type benchOptions struct {
	console.Common
	kernel          string
	rounds, samples int
	results         string         // the file for the raw samples
	repeat          command.Repeat // of a command
	prepare         string
}

func BenchCommand(env console.Environment) *cli.Command {
	var o benchOptions
	return &cli.Command{
		Name:      "bench",
		Usage:     "measure one point, or any command, in several fresh processes",
		ArgsUsage: "[KERNEL|FOLDER] | -- COMMAND…",
		Description: console.Details(
			"Checks the point's results, then measures it and writes the raw samples to a file. Behind -- stands\n"+
				"any command with its arguments, which no shell sees, or several in quotes, one a word, for the shell: their\n"+
				"wall times are measured in turn and compared, and nothing is checked.",
			"pawl bench --warmup 3 -- 'sort a.txt' 'sort --parallel=2 a.txt'",
			"0 measured", "1 the point fails", "3 internal or environment error", "64 usage", "130 stopped"),
		Flags: append(o.Flags("at", "workload", "backend", "compiler", "caches", "lock-clocks", "seed", "cache", "json",
			"run-timeout", "compile-timeout"),
			console.Number("rounds", &o.rounds, 1, 10, "how many fresh processes"),
			console.Number("samples", &o.samples, 1, 20, "how many samples per process"),
			console.Number("warmup", &o.repeat.Warmup, 0, 0, "for a command: how many runs come before those that count"),
			&cli.StringFlag{
				Name:        "prepare",
				Aliases:     []string{"p"},
				Destination: &o.prepare,
				Usage:       "for a command: a `COMMAND` for the shell before every run, which is not timed",
			},
			&cli.IntFlag{
				Name:        "runs",
				Aliases:     []string{"r"},
				Destination: &o.repeat.Runs,
				DefaultText: "3 s, at least 10",
				Action:      console.AtLeast("runs", 1),
				Usage:       "for a command: how many runs count",
			},
			&cli.StringFlag{
				Name:        "results",
				Aliases:     []string{"export-json"},
				Value:       "results/bench.json",
				Destination: &o.results,
				Usage:       "the `FILE` for the raw samples; of a command, written only where it is named",
			}),
		Action: func(c *cli.Context) (err error) {
			if env.Command != nil {
				if !c.IsSet("results") {
					o.results = ""
				}
				if c.IsSet("rounds") && !c.IsSet("runs") {
					o.repeat.Runs = o.rounds // each run is a process
				}
				return benchCommandLine(c.Context, env, o, c.Args().Slice(), c.IsSet("run-timeout"))
			}
			if o.kernel, err = console.KernelName(c.Args().Slice()); err != nil {
				return err
			}
			return benchmark(c.Context, env, o)
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

func benchmark(ctx context.Context, env console.Environment, o benchOptions) error {
	b, err := o.Builder(env)
	if err != nil {
		return err
	}
	defer b.Close()
	ctx, done := console.Stoppable(ctx, env)
	defer done()
	k, err := b.Machine.Load(ctx, o.kernel, o.Backend)
	if err != nil {
		return err
	}
	defer b.Machine.LockClocks(ctx, k, o.LockClocks, nil)()
	c, err := b.Open(ctx, k, o.Workload, o.At)
	if err != nil {
		return err
	}
	defer c.Close()
	m, failure, err := devices.MeasurePoint(ctx, c, o.rounds, o.samples)
	switch {
	case ctx.Err() != nil:
		return console.Answer(console.ExitInterrupted)
	case err != nil:
		return err
	case failure != nil:
		fmt.Fprintf(env.Stdout, "%s at %s: %s\n", m.Kernel, m.Point, escape.Line(failure.String()))
		return console.Answer(console.ExitNo)
	}
	r := benchReport{m, report.NewChecked(m.Evidence)}
	if err := page.WriteFile(o.results, r.JSON); err != nil {
		return fmt.Errorf("the results: %w", err)
	}
	if o.JSON {
		return r.JSON(env.Stdout)
	}
	r.print(env.Stdout)
	fmt.Fprintf(env.Stdout, "wrote %s\n", o.results)
	return nil
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
	fmt.Fprintf(w,
		"%s, workload %s, at %s\n%s, 95 %% interval: %s, over %d processes of %d samples (CV %s, robust CV %s)\n",
		r.Kernel, r.Workload, r.Point, r.Environment.Measure.Text(r.Milliseconds), r.Environment.Measure.Interval(r.Interval),
		len(r.Rounds), len(r.Rounds[0]), page.Percent(r.CV),
		page.RobustCV(page.Percent(r.Variation), len(r.Rounds)*len(r.Rounds[0])))
	fmt.Fprintf(w, "p50 %s, p95 %s, p99 %s, least %s\n", r.Environment.Measure.Text(r.P50),
		r.Environment.Measure.Text(r.P95), r.Environment.Measure.Text(r.P99), r.Environment.Measure.Text(r.Least))
	timed := &report.Timed{Gigaflops: r.Gigaflops, Gigabytes: r.Gigabytes, Roofline: r.Roofline, Resources: r.Resources}
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
