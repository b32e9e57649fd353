package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/internal/stats"
	"pawl/objective"
	"pawl/space"
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
			"0 measured", "1 the point fails", "3 the machinery failed", "64 usage"),
		Flags: []cli.Flag{
			atFlag, workloadFlag, backendFlag, compilerFlag, cachesFlag, clockFlag, seedFlag, cacheFlag, jsonFlag, timeoutFlag, compileFlag,
			&cli.IntFlag{Name: "rounds", Value: 5, Usage: "how many fresh processes"},
			&cli.IntFlag{Name: "samples", Value: 20, Usage: "how many samples per process"},
			&cli.StringFlag{Name: "results", Value: "results/current.json", Usage: "the `FILE` for the raw samples"},
		},
		Action: func(c *cli.Context) error { return benchmark(c, env) },
	}
}

// benchReport is what the command prints and writes. Times are milliseconds.
type benchReport struct {
	Kernel       string                `json:"kernel"`
	Workload     string                `json:"workload"`
	Point        space.Point           `json:"point"`
	Milliseconds float64               `json:"milliseconds"`
	Interval     stats.Interval        `json:"interval"`
	Variation    float64               `json:"variation"`
	Rounds       [][]float64           `json:"rounds"`
	Batch        int                   `json:"batch"`
	Binary       string                `json:"binary"`
	Environment  objective.Environment `json:"environment"`
	Measured     time.Time             `json:"measured"`
}

func benchmark(c *cli.Context, env environment) error {
	if c.Int("rounds") < 1 || c.Int("samples") < 1 {
		return usagef("--rounds and --samples must be at least 1")
	}
	b, prepared, err := openPoint(c, env)
	if err != nil {
		return err
	}
	defer b.close()
	result := benchReport{
		Kernel: b.kernel.Name, Workload: b.workload.Name, Point: prepared.Point,
		Environment: b.backend.Environment(), Measured: time.Now().UTC(),
	}
	failure, err := b.evaluator.Verify(c.Context, prepared)
	for round := 0; round < c.Int("rounds") && failure == nil && err == nil; round++ {
		var outcome objective.Outcome
		b.evaluator.Refresh()
		outcome, err = b.evaluator.Sample(c.Context, prepared, c.Int("samples"))
		failure = outcome.Failure
		result.Rounds = append(result.Rounds, outcome.Samples)
		result.Batch, result.Binary = outcome.Batch, outcome.Binary
	}
	if err != nil {
		return err
	}
	if failure != nil {
		fmt.Fprintf(env.stdout, "%s at %s: %s\n", result.Kernel, result.Point, failure)
		return answer(exitNo)
	}
	return result.conclude(c, env)
}

// conclude summarises the samples, writes the file and prints the result.
func (r *benchReport) conclude(c *cli.Context, env environment) error {
	var medians, all []float64
	for _, samples := range r.Rounds {
		medians = append(medians, stats.Median(samples))
		all = append(all, samples...)
	}
	r.Milliseconds = stats.Median(medians)
	r.Interval = stats.Bootstrap{}.Median(medians)
	r.Variation = stats.RobustCV(all)
	path := c.String("results")
	encoded, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	if err := os.WriteFile(path, append(encoded, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	if c.Bool("json") {
		return printJSON(env, r)
	}
	fmt.Fprintf(env.stdout, "%s, workload %s, at %s\n%s, 95 %% interval %s, over %d processes of %d samples (CV %.1f %%)\nwrote %s\n",
		r.Kernel, r.Workload, r.Point, report.Milliseconds(r.Milliseconds), report.TimeInterval(r.Interval),
		len(r.Rounds), len(r.Rounds[0]), 100*r.Variation, path)
	return nil
}
