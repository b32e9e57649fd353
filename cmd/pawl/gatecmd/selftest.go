package gatecmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
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

type selftestOptions struct {
	console.Common
	ownPolicy
	test      ratchet.SelfTest
	slowdowns string // percentages, separated by commas
}

func selftestCommand(env console.Environment) *cli.Command {
	o := selftestOptions{Common: console.In(env)}
	return &cli.Command{
		Name:      "selftest",
		Usage:     "slow a kernel by known shares and count the verdicts, on this machine",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Slows the kernel by a known share of its own time, compares it many times with the original, as\n"+
				"pawl gate would, and prints how often each verdict came out.",
			"pawl gate selftest matmul --comparisons 20 --slowdowns 0,3,10",
			"0 done", "3 internal or environment error", "64 usage", "130 stopped"),
		Flags: append(append(o.Common.Flags("workload", "at", "backend", "compiler", "cache", "seed", "order-seed",
			"run-timeout", "compile-timeout", "json"), o.ownPolicy.flags()...),
			console.Number("comparisons", &o.test.Comparisons, 1, 20, "how many comparisons per slowdown"),
			console.Text("slowdowns", &o.slowdowns, "0,1,2,3,5,10", "the `PERCENTAGES` to inject")),
		Action: o.WithBuilder(o.selftest),
	}
}

func (o *selftestOptions) selftest(ctx context.Context, b *devices.Builder, arguments []string) (err error) {
	s := o.test
	if s.Policy, err = o.read(); err != nil {
		return err
	}
	if s.Slowdowns, err = percentages(o.slowdowns); err != nil {
		return err
	}
	t, err := o.Target(ctx, b.Machine, arguments)
	if err != nil {
		return err
	}
	s.Kernel, s.Workload, s.At, s.Seed = t.Kernel, t.Workload.Name, o.At, o.Order()
	s.Observe = func(n int, verdicts []string) {
		fmt.Fprintf(o.Stderr, "%d of %d comparisons per slowdown: %s\n", n, s.Comparisons, strings.Join(verdicts, "; "))
	}
	rows, failed := s.Run(ctx, b)
	if failed != nil && ctx.Err() == nil {
		return failed
	}
	err = o.Show("pawl gate selftest", 1, page.List("rows", rows), func(w io.Writer) {
		fmt.Fprintf(w, "%s, workload %s; in brackets the 95 %% interval of a rate\n\n", s.Kernel.Name, s.Workload)
		printSelftest(w, rows)
	})
	return cmp.Or(err, failed) // stopped, with what there is
}

// selftestVerdicts are those that a comparison of two working kernels can have.
var selftestVerdicts = []gate.Verdict{gate.Regression, gate.Improvement, gate.Maintained, gate.NoDifference,
	gate.Inconclusive}

func printSelftest(w io.Writer, rows []ratchet.SelfTestRow) {
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
	page.Table(w, header, table)
	for _, r := range rows {
		for _, reason := range slices.Sorted(maps.Keys(r.Reasons)) {
			fmt.Fprintf(w, "inconclusive at %g %%: %s, %d times\n", 100*r.Slowdown, reason, r.Reasons[reason])
		}
	}
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
