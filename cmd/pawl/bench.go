package main

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/objective"
	"pawl/objective/worker"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/report"
)

func benchCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:      "bench",
		Usage:     "measure one point, in several fresh processes",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: details(
			"Checks the point's results, then measures it and writes the raw samples to a file.",
			"pawl bench matmul --at TILE_M=6,TILE_N=2 --rounds 5",
			"0 measured", "1 the point fails", "3 the machinery failed", "64 usage", "130 stopped"),
		Flags: []cli.Flag{
			atFlag, workloadFlag, backendFlag, compilerFlag, cachesFlag, clockFlag, seedFlag, cacheFlag, jsonFlag, timeoutFlag, compileFlag,
			&cli.IntFlag{Name: "rounds", Value: 10, Usage: "how many fresh processes"},
			&cli.IntFlag{Name: "samples", Value: 20, Usage: "how many samples per process"},
			&cli.StringFlag{Name: "results", Value: "results/bench.json", Usage: "the `FILE` for the raw samples"},
		},
		Action: func(c *cli.Context) error { return benchmark(c, env) },
	}
}

// benchReport is what the command prints and writes. Times are milliseconds.
type benchReport struct {
	Kernel       string         `json:"kernel"`
	Workload     string         `json:"workload"`
	Point        space.Point    `json:"point"`
	Milliseconds float64        `json:"milliseconds"`
	Interval     stats.Interval `json:"interval"`
	// CV is the standard deviation of all samples over their mean; Variation is
	// what is left of it without drift, steps and outliers.
	CV        float64 `json:"cv"`
	Variation float64 `json:"variation"`
	// Percentiles and the least are over all samples; drift is from the first
	// third of a process to its last, positive when it got faster.
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Least float64 `json:"least"`
	Drift float64 `json:"drift"`
	// Gigaflops and Gigabytes are per second, Roofline the share of the best
	// that the device can do; 0 where nobody knows.
	Gigaflops float64 `json:"gigaflops,omitempty"`
	Gigabytes float64 `json:"gigabytes,omitempty"`
	Roofline  float64 `json:"roofline,omitempty"`
	// Resources is what the compiler says that the point needs, Conditions the
	// state of the device.
	Resources *objective.Resources `json:"resources,omitempty"`
	// Checked is what the point has passed before it was measured.
	Checked     *report.Checked       `json:"checked,omitempty"`
	Conditions  *worker.Conditions    `json:"conditions,omitempty"`
	Rounds      [][]float64           `json:"rounds"`
	Batch       int                   `json:"batch"`
	Binary      string                `json:"binary"`
	Environment objective.Environment `json:"environment"`
	Measured    time.Time             `json:"measured"`
}

func benchmark(c *cli.Context, env environment) error {
	if c.Int("rounds") < 1 || c.Int("samples") < 1 {
		return usagef("--rounds and --samples must be at least 1")
	}
	ctx, done := stoppable(c.Context, env)
	defer done()
	c.Context = ctx
	b, prepared, err := openPoint(c, env)
	if err != nil {
		return err
	}
	defer b.close()
	result := benchReport{
		Kernel: b.kernel.Name, Workload: b.workload.Name, Point: prepared.Point,
		Environment: b.backend.Environment(), Measured: time.Now().UTC(),
	}
	var evidence *objective.Evidence
	failure, err := b.evaluator.Verify(c.Context, prepared)
	for round := 0; round < c.Int("rounds") && failure == nil && err == nil; round++ {
		var outcome objective.Outcome
		b.evaluator.Refresh()
		outcome, err = b.evaluator.SampleAlone(c.Context, prepared, c.Int("samples"))
		failure, evidence = outcome.Failure, evidence.Join(outcome.Evidence)
		result.Rounds = append(result.Rounds, outcome.Samples)
		result.Batch, result.Binary = outcome.Batch, outcome.Binary
		result.Conditions = result.Conditions.Join(outcome.Conditions)
	}
	if ctx.Err() != nil {
		return answer(exitInterrupted)
	}
	if err != nil {
		return err
	}
	if failure != nil {
		fmt.Fprintf(env.stdout, "%s at %s: %s\n", result.Kernel, result.Point, escape.Line(failure.String()))
		return answer(exitNo)
	}
	result.Resources, result.Checked = prepared.Binary.Resources, report.NewChecked(evidence)
	work, err := b.work()
	if err != nil {
		return err
	}
	result.summarise(work, b.backend.Roofline())
	return result.conclude(c, env)
}

// summarise computes what the samples say. The interval is over processes, because
// they differ more than the launches inside one; too few of them have none.
func (r *benchReport) summarise(work studies.Work, roofline objective.Roofline) {
	var medians, all, drifts []float64
	for _, samples := range r.Rounds {
		medians = append(medians, stats.Median(samples))
		drifts = append(drifts, stats.Drift(samples))
		all = append(all, samples...)
	}
	r.Milliseconds = stats.Median(medians)
	r.Interval = stats.Unbounded()
	if len(medians) >= stats.MinimumSamples(0.95) {
		r.Interval = stats.Bootstrap{}.Median(medians)
	}
	r.CV, r.Variation = stats.CV(all), stats.RobustCV(all)
	r.P50, r.P95, r.P99, r.Least = stats.Median(all), stats.Quantile(all, 0.95), stats.Quantile(all, 0.99), stats.Quantile(all, 0)
	r.Drift = stats.Median(drifts)
	r.Gigaflops, r.Gigabytes = work.Flops/r.Milliseconds/1e6, work.Bytes/r.Milliseconds/1e6
	if roofline = roofline.Measure(); roofline.Flops > 0 && roofline.Bytes > 0 {
		r.Roofline = max(1e9*r.Gigaflops/roofline.Flops, 1e9*r.Gigabytes/roofline.Bytes)
	}
}

// warnings are what a reader should know before believing the figures.
func (r *benchReport) warnings() []string {
	var found []string
	if r.CV > report.NoisyVariation {
		found = append(found, fmt.Sprintf("times vary by %.0f %%: the machine is noisy", 100*r.CV))
	}
	if !r.Interval.Bounded() {
		found = append(found, fmt.Sprintf("a 95 %% interval takes at least %d processes (--rounds): hence ±∞", stats.MinimumSamples(0.95)))
	}
	if math.Abs(r.Drift) > report.LargeDrift {
		found = append(found, fmt.Sprintf("times drift by %+.1f %% inside a process: what is timed changes, or the machine does", 100*r.Drift))
	}
	if c := r.Conditions; c != nil {
		if len(c.Strangers) > 0 {
			found = append(found, report.StrangersText(c))
		}
		if c.Temperature > report.HotTemperature {
			found = append(found, fmt.Sprintf("the device reached %d °C", c.Temperature))
		}
		if c.Discarded > 0 {
			found = append(found, fmt.Sprintf("%d samples were discarded: %s", c.Discarded, c.Reasons))
		}
	}
	return found
}

// conclude writes the file and prints the result.
func (r *benchReport) conclude(c *cli.Context, env environment) error {
	path := c.String("results")
	if err := page.WriteFile(path, func(w io.Writer) error { return page.JSON(w, r) }); err != nil {
		return fmt.Errorf("the results: %w", err)
	}
	if c.Bool("json") {
		return page.JSON(env.stdout, r)
	}
	fmt.Fprintf(env.stdout, "%s, workload %s, at %s\n%s, 95 %% interval %s, over %d processes of %d samples (CV %.1f %%, %.1f %% without drift and outliers)\n",
		r.Kernel, r.Workload, r.Point, page.Milliseconds(r.Milliseconds), page.TimeInterval(r.Interval),
		len(r.Rounds), len(r.Rounds[0]), 100*r.CV, 100*r.Variation)
	fmt.Fprintf(env.stdout, "p50 %s, p95 %s, p99 %s, least %s, drift %+.1f %%\n", page.Milliseconds(r.P50), page.Milliseconds(r.P95),
		page.Milliseconds(r.P99), page.Milliseconds(r.Least), 100*r.Drift)
	timed := &report.Timed{Gigaflops: r.Gigaflops, Gigabytes: r.Gigabytes, Roofline: r.Roofline, Resources: r.Resources}
	for _, line := range []string{report.Throughput(timed), timed.Needs()} {
		if line != "" && line != "~" {
			fmt.Fprintln(env.stdout, line)
		}
	}
	if r.Checked != nil {
		fmt.Fprintln(env.stdout, "checked on "+r.Checked.Text())
	}
	if r.Conditions != nil {
		fmt.Fprintln(env.stdout, report.ConditionsText(r.Conditions))
	}
	for _, warning := range r.warnings() {
		fmt.Fprintln(env.stdout, "Warning: "+warning)
	}
	fmt.Fprintf(env.stdout, "wrote %s\n", path)
	return nil
}
