package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/gate"
	"pawl/gate/streams"
)

func gateSimulateCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:  "simulate",
		Usage: "count false alarms on simulated machines with the faults of real ones",
		Description: details(
			"Compares equal sides, and sides with a real slowdown of 10 %, on machines with autocorrelation,\n"+
				"steps, coarse ticks, outliers and two modes. Seeds fix the table.",
			"pawl gate simulate --comparisons 200",
			"0 every rate of false alarms is at most --most", "1 one is higher", "64 usage"),
		Flags: []cli.Flag{
			presetFlag, jsonFlag,
			&cli.IntFlag{Name: "comparisons", Value: 200, Usage: "how many comparisons per machine and way of measuring"},
			&cli.Uint64Flag{Name: "seed", Value: 1_000_000, Usage: "the first of the seeds"},
			&cli.Float64Flag{Name: "most", Value: 1, Usage: "the highest `PERCENTAGE` of false alarms"},
		},
		Action: func(c *cli.Context) error { return simulateGate(c, env) },
	}
}

func simulateGate(c *cli.Context, env environment) error {
	p, err := preset(c)
	if err != nil {
		return err
	}
	if c.Int("comparisons") < 1 || c.NArg() > 0 {
		return usagef("--comparisons must be at least 1, and nothing else is named")
	}
	progress, finish := simulationBar(env)
	rows, err := streams.Run(c.Context, streams.Options{
		Comparisons: c.Int("comparisons"), Seed: c.Uint64("seed"), Slowdown: 0.10, Policy: p, Progress: progress,
	})
	finish()
	if err != nil {
		return err
	}
	if c.Bool("json") {
		err = printJSON(env, rows)
	} else {
		err = printStreams(env, rows, c.Int("comparisons"))
	}
	if err != nil {
		return err
	}
	for _, r := range rows {
		if 100*float64(r.FalseAlarms()) > c.Float64("most")*float64(c.Int("comparisons")) {
			return answer(exitNo)
		}
	}
	return nil
}

func printStreams(env environment, rows []streams.Row, comparisons int) error {
	share := func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(comparisons)) }
	var table [][]string
	for _, r := range rows {
		table = append(table, []string{
			r.Fault, r.Method, share(r.FalseAlarms()), share(r.Equal[gate.Inconclusive]),
			share(r.Slowed[gate.Regression]), share(r.Slowed[gate.Inconclusive]),
		})
	}
	fmt.Fprintf(env.stdout, "%d comparisons of equal sides and as many with a slowdown of 10 %%\n\n", comparisons)
	return render(env.stdout, []string{"machine", "measured", "false alarms", "inconclusive", "10 % found", "10 % inconclusive"}, table)
}
