package gatecmd

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate"
	"pawl/gate/policy"
	"pawl/gate/simulated"
	"pawl/internal/collect"
	"pawl/internal/page"
)

// ownPolicy is a policy for a single comparison: a preset, or the limits of the first
// kernel in a file.
type ownPolicy struct {
	preset, file string // both may be empty
}

func (o *ownPolicy) flags() []cli.Flag {
	return []cli.Flag{presetFlag(&o.preset),
		console.Text("policy", &o.file, "",
			"take limits, rounds, samples and budget from the first kernel of this `FILE`")}
}

func (o ownPolicy) read() (gate.Policy, error) {
	if o.file == "" {
		return preset(o.preset)
	}
	if o.preset != "" {
		return gate.Policy{}, console.Usagef("--preset and --policy exclude each other")
	}
	file, err := policy.Read(o.file)
	if err != nil {
		return gate.Policy{}, err
	}
	if len(file.Kernels) == 0 {
		return gate.Policy{}, console.Usagef("%s gates no kernel", o.file)
	}
	return file.Kernels[0].Policy, nil
}

type simulateOptions struct {
	console.Common
	ownPolicy
	simulation     simulated.Options
	most, slowdown float64 // per cent
	rows           int
}

func simulateCommand(env console.Environment) *cli.Command {
	o := simulateOptions{Common: console.In(env)}
	return &cli.Command{
		Name:  "simulate",
		Usage: "count false alarms on simulated machines with the faults of real ones",
		Description: console.Details(
			"Compares equal sides, and sides with a real slowdown, on machines with autocorrelation,\n"+
				"steps, coarse ticks, outliers, two modes, processes that differ, heavy tails, a rhythm, a bursty\n"+
				"neighbor and slow kernels; candidates whose slowest calls are slower, and ones that are slower\n"+
				"than the best accepted entry; and checks whether the smallest regression that was printed is found,\n"+
				"and how often the printed 95 % interval contains the true change.\n"+
				"Every rate has its 95 % interval. Seeds fix the table.",
			"pawl gate simulate --comparisons 200 --policy gate.yaml",
			"0 every rate of false alarms and false warnings is at most --most", "1 one is higher", "64 usage"),
		Flags: append(append(o.Common.Flags("json"), o.ownPolicy.flags()...),
			console.Number("comparisons", &o.simulation.Comparisons, 1, 200, "how many comparisons per machine"),
			console.Number("rows", &o.rows, 1, 0,
				"compare a program with so many rows instead, in 20 rounds; tenths of its rows are slower by 3, 5 and 10 %"),
			&cli.Float64Flag{
				Name:        "slowdown",
				Value:       10,
				Destination: &o.slowdown,
				Usage:       "the real slowdown to be found in rounds, a `PERCENTAGE`",
			},
			console.Seed("seed", &o.simulation.Seed, 1_000_000, "", "the first of the seeds"),
			&cli.Float64Flag{Name: "most", Value: 1, Destination: &o.most, Usage: "the highest `PERCENTAGE` of false alarms"}),
		Action: console.Alone(o.simulate),
	}
}

// simulate prints the table; the answer is no where a machine has too many false alarms.
func (o *simulateOptions) simulate(ctx context.Context) (err error) {
	s := o.simulation
	if s.Policy, err = o.read(); err != nil {
		return err
	}
	if o.rows > 0 {
		return o.simulateRows(ctx, s)
	}
	progress, finish := console.SimulationBar(o.Environment)
	s.Slowdown, s.Progress = o.slowdown/100, progress
	rows, err := simulated.Run(ctx, s)
	finish()
	if err != nil {
		return err
	}
	err = o.Show("pawl gate simulate", 1, page.List("rows", rows), func(w io.Writer) {
		printInterleaved(w, rows, s.Comparisons, fmt.Sprintf("%.3g %%", o.slowdown))
	})
	for _, r := range rows {
		if err == nil && r.TooMany(o.most/100) {
			return console.Answer(console.ExitNo)
		}
	}
	return err
}

// simulateRows prints the table of a program with many rows.
func (o *simulateOptions) simulateRows(ctx context.Context, as simulated.Options) error {
	progress, finish := console.SimulationBar(o.Environment)
	s := simulated.ManyRows{
		Runs: as.Comparisons, Rows: o.rows, Samples: 3, Rounds: 20, Seed: as.Seed, Policy: as.Policy,
		Slowdowns: []float64{0.03, 0.05, 0.10}, Progress: progress,
	}
	rows, err := s.Run(ctx, simulated.Faults)
	finish()
	if err != nil {
		return err
	}
	err = o.Show("pawl gate simulate", 1, page.List("rows", rows), func(w io.Writer) {
		fmt.Fprintf(w, "%d runs of equal sides and as many with slower rows, each of %d rows in %d rounds; in brackets the "+
			"95 %% interval of a rate\n\n", s.Runs, s.Rows, s.Rounds)
		page.Table(w, []string{"machine", "false runs", "false rows", "undecided", "false beside", "3 % found", "5 % found",
			"10 % found", "95 % covers"}, collect.Each(rows, func(r simulated.FamilyRow) []string {
			return []string{r.Fault, r.FalseRuns.String(), strconv.Itoa(r.FalseRows), r.Undecided.String(),
				r.FalseBeside.String(), r.Found[0].String(), r.Found[1].String(), r.Found[2].String(), r.Covered.String()}
		}))
	})
	for _, r := range rows {
		if err == nil && float64(r.FalseRuns.Times) > o.most/100*float64(r.FalseRuns.Of) {
			return console.Answer(console.ExitNo)
		}
	}
	return err
}

func printInterleaved(w io.Writer, rows []simulated.Row, comparisons int, slowdown string) {
	var verdicts, together [][]string
	for _, r := range rows {
		verdicts = append(verdicts, []string{
			r.Fault, r.Method, r.FalseAlarms().String(), simulated.RateOf(r.Equal, gate.Inconclusive).String(),
			simulated.RateOf(r.Slowed, gate.Regression).String(), simulated.RateOf(r.Slowed, gate.Inconclusive).String(),
			r.Together.Covered.String(),
		})
		t, smallest := r.Together, page.Unknown
		if share, printed := t.MedianSmallest(); printed {
			smallest = page.Percent(share)
		}
		together = append(together, []string{
			r.Fault, simulated.RateOf(t.Eroded, gate.Regression).String(), t.Warned.String(), t.Tails.String(), smallest,
			t.Seen.String(),
		})
	}
	fmt.Fprintf(w,
		"%d comparisons of equal sides and as many of each other kind; in brackets the 95 %% interval of a rate\n\n",
		comparisons)
	page.Table(w,
		[]string{"machine", "measured", "false alarms", "inconclusive", slowdown + " found", slowdown + " inconclusive",
			"95 % covers"},
		verdicts)
	fmt.Fprintf(w, "\n95 %% covers: how often the printed interval contains the true change.\n")
	fmt.Fprintln(w,
		"\nIn rounds: a loss of "+slowdown+
			" against the best accepted entry; warnings about the slowest calls, of equal sides "+
			"and where\n40 % of the calls take twice as long; the smallest regression that was printed (median), and how "+
			"often it is found:")
	fmt.Fprintln(w)
	page.Table(w,
		[]string{"machine", "erosion found", "false warnings", "tail found", "printed", "printed is found"}, together)
}
