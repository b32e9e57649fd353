package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/gate"
	"pawl/gate/policy"
	"pawl/gate/streams"
	"pawl/internal/page"
	"pawl/internal/stats"
)

func gateSimulateCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:  "simulate",
		Usage: "count false alarms on simulated machines with the faults of real ones",
		Description: details(
			"Compares equal sides, and sides with a real slowdown of 10 %, on machines with autocorrelation,\n"+
				"steps, coarse ticks, outliers, two modes, processes that differ, heavy tails, a rhythm, a bursty\n"+
				"neighbour and slow kernels; candidates whose slowest calls are slower, and ones that are slower\n"+
				"than the oldest release; and looks whether the smallest regression that was printed is found.\n"+
				"Every rate has its 95 % interval. Seeds fix the table.",
			"pawl gate simulate --comparisons 200 --policy gate.yaml",
			"0 every rate of false alarms and false warnings is at most --most", "1 one is higher", "64 usage"),
		Flags: []cli.Flag{
			presetFlag, ownPolicyFlag, apartFlag, jsonFlag,
			&cli.IntFlag{Name: "comparisons", Value: 200, Usage: "how many comparisons per machine and way of measuring"},
			&cli.Uint64Flag{Name: "seed", Value: 1_000_000, Usage: "the first of the seeds"},
			&cli.Float64Flag{Name: "most", Value: 1, Usage: "the highest `PERCENTAGE` of false alarms"},
		},
		Action: func(c *cli.Context) error { return simulateGate(c, env) },
	}
}

func simulateGate(c *cli.Context, env environment) error {
	p, err := ownPolicy(c)
	if err != nil {
		return err
	}
	if c.Int("comparisons") < 1 || c.NArg() > 0 {
		return usagef("--comparisons must be at least 1, and nothing else is named")
	}
	if c.Bool("apart") {
		return simulateApart(c, env, p)
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
		err = page.JSON(env.stdout, rows)
	} else {
		err = printStreams(env, rows, c.Int("comparisons"))
	}
	if err != nil {
		return err
	}
	most := c.Float64("most") / 100 * float64(c.Int("comparisons"))
	for _, r := range rows {
		if float64(r.FalseAlarms()) > most || r.Together != nil && float64(r.Together.Warned.Times) > most {
			return answer(exitNo)
		}
	}
	return nil
}

// ownPolicyFlag takes the limits from a policy file instead of a preset.
var ownPolicyFlag = &cli.StringFlag{Name: "policy", Usage: "take limits, rounds, samples and budget from the first kernel of this `FILE`"}

// ownPolicy is the preset, or the policy of the first kernel in a file.
func ownPolicy(c *cli.Context) (gate.Policy, error) {
	if c.String("policy") == "" {
		return preset(c)
	}
	if c.IsSet("preset") {
		return gate.Policy{}, usagef("--preset and --policy exclude each other")
	}
	file, err := policy.Read(c.String("policy"))
	if err != nil {
		return gate.Policy{}, err
	}
	return file.Kernels[0].Policy, nil
}

func printStreams(env environment, rows []streams.Row, comparisons int) error {
	var verdicts, together [][]string
	for _, r := range rows {
		verdicts = append(verdicts, []string{
			r.Fault, r.Method, streams.RateOf(r.Equal, gate.Regression, gate.Improvement).String(), streams.RateOf(r.Equal, gate.Inconclusive).String(),
			streams.RateOf(r.Slowed, gate.Regression).String(), streams.RateOf(r.Slowed, gate.Inconclusive).String(),
		})
		if t := r.Together; t != nil {
			smallest := "~"
			if len(t.Smallest) > 0 {
				smallest = page.Percent(stats.Median(t.Smallest))
			}
			together = append(together, []string{
				r.Fault, streams.RateOf(t.Eroded, gate.Regression).String(), t.Warned.String(), t.Tails.String(), smallest, t.Seen.String(),
			})
		}
	}
	fmt.Fprintf(env.stdout, "%d comparisons of equal sides and as many of each other kind; in brackets the 95 %% interval of a rate\n\n", comparisons)
	if err := page.Table(env.stdout, []string{"machine", "measured", "false alarms", "inconclusive", "10 % found", "10 % inconclusive"}, verdicts); err != nil {
		return err
	}
	fmt.Fprintln(env.stdout, "\nIn rounds: a loss of 10 % against the oldest release; warnings about the slowest calls, of equal sides and where\n40 % of the calls take twice as long; the smallest regression that was printed (median), and how often it is found:")
	fmt.Fprintln(env.stdout)
	return page.Table(env.stdout, []string{"machine", "erosion found", "false warnings", "tail found", "printed", "printed is found"}, together)
}
