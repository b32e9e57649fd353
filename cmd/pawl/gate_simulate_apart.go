package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/gate"
	"pawl/gate/streams"
	"pawl/internal/page"
)

// apartFlag asks for sides that are not measured together.
var apartFlag = &cli.BoolFlag{Name: "apart", Usage: "sides that are not measured together, as pawl compare judges them, by number of processes"}

// apartSlowdowns are the real slowdowns of the table.
var apartSlowdowns = []float64{0, 0.10, 0.30, 1}

// simulateApart makes the table of pawl compare. It fails where equal sides of six
// processes or more are called different too often; with fewer a machine whose
// processes differ by more than the stated limit cannot be told from other code.
func simulateApart(c *cli.Context, env environment, p gate.Policy) error {
	progress, finish := simulationBar(env)
	comparisons := c.Int("comparisons")
	rows, err := streams.RunApart(c.Context, streams.ApartOptions{
		Comparisons: comparisons, Seed: c.Uint64("seed"), Processes: []int{1, 2, 3, 6, 10, 40}, Samples: 50,
		Slowdowns: apartSlowdowns, Policy: p, Progress: progress,
	})
	finish()
	if err != nil {
		return err
	}
	if c.Bool("json") {
		err = page.JSON(env.stdout, rows)
	} else {
		err = printApart(env, rows, comparisons)
	}
	if err != nil {
		return err
	}
	for _, r := range rows {
		if alarms := alarmRate(r); r.Processes >= 6 && 100*float64(alarms.Times) > c.Float64("most")*float64(alarms.Of) {
			return answer(exitNo)
		}
	}
	return nil
}

// alarmRate is how often equal sides were called different.
func alarmRate(r streams.ApartRow) streams.Rate {
	return streams.RateOf(r.Verdicts[0], gate.Regression, gate.Improvement)
}

func printApart(env environment, rows []streams.ApartRow, comparisons int) error {
	var table [][]string
	for _, r := range rows {
		line := []string{r.Fault, fmt.Sprint(r.Processes), alarmRate(r).String(), streams.RateOf(r.Verdicts[0], gate.Inconclusive).String()}
		for _, verdicts := range r.Verdicts[1:] {
			line = append(line, streams.RateOf(verdicts, gate.Regression).String())
		}
		table = append(table, line)
	}
	header := []string{"machine", "processes a side", "false alarms", "inconclusive"}
	for _, slowdown := range apartSlowdowns[1:] {
		header = append(header, fmt.Sprintf("%.0f %% found", 100*slowdown))
	}
	fmt.Fprintf(env.stdout, "%d comparisons of each kind, processes of 50 samples, each side on a machine of its own; in brackets the 95 %% interval of a rate\n\n", comparisons)
	return page.Table(env.stdout, header, table)
}
