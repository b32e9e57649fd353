package gatecmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate"
	"pawl/gate/ratchet"
	"pawl/gate/simulated"
	"pawl/internal/page"
	"pawl/objective/devices"
)

// selftestOptions are the flags of pawl gate selftest.
type selftestOptions struct {
	console.Common
	ownPolicy
	kernel      string
	comparisons int    // per slowdown
	slowdowns   string // percentages, separated by commas
}

func selftestCommand(env console.Environment) *cli.Command {
	var o selftestOptions
	return &cli.Command{
		Name:      "selftest",
		Usage:     "slow a kernel by known shares and count the verdicts, on this machine",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Compiles the kernel with a spin of a known share of its own time, compares it with itself as\n"+
				"pawl gate would, many times, and prints how often each verdict came out.",
			"pawl gate selftest matmul --comparisons 20 --slowdowns 0,3,10",
			"0 done", "3 internal or environment error", "64 usage", "130 stopped"),
		Flags: append(append(o.Common.Flags("workload", "at", "backend", "compiler", "cache", "seed", "order-seed",
			"run-timeout",
			"compile-timeout", "json"), o.ownPolicy.flags()...),
			console.Number("comparisons", &o.comparisons, 1, 20, "how many comparisons per slowdown"),
			console.Text("slowdowns", &o.slowdowns, "0,1,2,3,5,10", "the `PERCENTAGES` to inject")),
		Action: console.Action(func(ctx context.Context, arguments []string) (err error) {
			if o.kernel, err = console.KernelName(arguments); err != nil {
				return err
			}
			return selftest(ctx, env, o)
		}),
	}
}

func selftest(ctx context.Context, env console.Environment, o selftestOptions) error {
	p, err := o.read()
	if err != nil {
		return err
	}
	shares, err := percentages(o.slowdowns)
	if err != nil {
		return err
	}
	b, err := o.Builder(env)
	if err != nil {
		return err
	}
	defer b.Close()
	k, err := b.Machine.Load(ctx, o.kernel, o.Backend)
	if err != nil {
		return err
	}
	t, err := devices.NewTarget(k, o.Workload)
	if err != nil {
		return err
	}
	ctx, done := console.Stoppable(ctx, env)
	defer done()
	rows, err := ratchet.SelfTest{
		Kernel: k, Workload: t.Workload.Name, At: o.At, Slowdowns: shares, Comparisons: o.comparisons, Policy: p,
		Seed: o.Order(),
		Observe: func(n int, verdicts []string) {
			fmt.Fprintf(env.Stderr, "%d of %d comparisons per slowdown: %s\n", n, o.comparisons, strings.Join(verdicts, "; "))
		},
	}.Run(ctx, b)
	if err != nil && ctx.Err() == nil {
		return err
	}
	if o.JSON {
		err = page.JSON(env.Stdout, "pawl gate selftest", 1, page.List("rows", rows))
	} else {
		fmt.Fprintf(env.Stdout, "%s, workload %s; in brackets the 95 %% interval of a rate\n\n", k.Name, t.Workload.Name)
		err = printSelftest(env, rows)
	}
	if err == nil && ctx.Err() != nil {
		return console.Answer(console.ExitInterrupted) // with what there is
	}
	return err
}

// selftestVerdicts are those that a comparison of two working kernels can have.
var selftestVerdicts = []gate.Verdict{gate.Regression, gate.Improvement, gate.Maintained, gate.NoDifference,
	gate.Inconclusive}

func printSelftest(env console.Environment, rows []ratchet.SelfTestRow) error {
	header := []string{"slowdown", "comparisons"}
	for _, verdict := range selftestVerdicts {
		header = append(header, string(verdict))
	}
	header = append(header, "tail warned", "median change", "median rounds", "median time")
	var table [][]string
	for _, r := range rows {
		row := []string{fmt.Sprintf("%.4g %%", 100*r.Slowdown), fmt.Sprint(r.Comparisons)}
		for _, verdict := range selftestVerdicts {
			row = append(row, simulated.Rate{Times: r.Verdicts[verdict], Of: r.Comparisons}.String())
		}
		row = append(row, simulated.Rate{Times: r.Warned, Of: r.Comparisons}.String(), "~", "~")
		change, rounds, seconds, measured := r.Medians()
		if measured {
			row = append(row[:len(row)-2], fmt.Sprintf("%+.2f %%", 100*change), fmt.Sprint(rounds))
		}
		table = append(table, append(row, fmt.Sprintf("%.1f s", seconds)))
	}
	if err := page.Table(env.Stdout, header, table); err != nil {
		return err
	}
	for _, r := range rows {
		for _, reason := range slices.Sorted(maps.Keys(r.Reasons)) {
			fmt.Fprintf(env.Stdout, "inconclusive at %g %%: %s, %d times\n", 100*r.Slowdown, reason, r.Reasons[reason])
		}
	}
	return nil
}

// percentages reads numbers such as 0,1,2.5.
func percentages(text string) ([]float64, error) {
	var shares []float64
	for word := range strings.SplitSeq(text, ",") {
		value, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(word), "%"), 64)
		if err != nil || !(value >= 0 && value <= 1000) {
			return nil, console.Usagef("--slowdowns %q: percentages such as 0,1,2.5", text)
		}
		shares = append(shares, value/100)
	}
	return shares, nil
}
