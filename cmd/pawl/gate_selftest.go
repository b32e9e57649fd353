package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/spin"
	"pawl/gate/streams"
	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/kernels"
)

func gateSelftestCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:      "selftest",
		Usage:     "slow a kernel by known shares and count the verdicts, on this machine",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: details(
			"Compiles the kernel with a spin of a known share of its own time, compares it with itself as\n"+
				"pawl gate would, many times, and prints how often each verdict came out.",
			"pawl gate selftest matmul --comparisons 20 --slowdowns 0,3,10",
			"0 done", "3 the machinery failed", "64 usage", "130 stopped"),
		Flags: []cli.Flag{
			presetFlag, ownPolicyFlag, workloadFlag, atFlag, backendFlag, compilerFlag, seedFlag, cacheFlag, timeoutFlag, compileFlag, jsonFlag,
			&cli.IntFlag{Name: "comparisons", Value: 20, Usage: "how many comparisons per slowdown"},
			&cli.StringFlag{Name: "slowdowns", Value: "0,1,2,3,5,10", Usage: "the `PERCENTAGES` to inject"},
		},
		Action: func(c *cli.Context) error { return selftest(c, env) },
	}
}

// selftestRow counts the verdicts at one slowdown.
type selftestRow struct {
	// Slowdown is the injected share.
	Slowdown    float64              `json:"slowdown"`
	Comparisons int                  `json:"comparisons"`
	Verdicts    map[gate.Verdict]int `json:"verdicts"`
	// Warned is how often the slowest calls were said to be slower.
	Warned int `json:"warned"`
	// Reasons counts what made comparisons inconclusive.
	Reasons map[string]int `json:"reasons"`
	// Changes are what was measured, positive means faster.
	Changes []float64 `json:"changes"`
	Rounds  []float64 `json:"rounds"`
	Seconds []float64 `json:"seconds"`

	last string // what the last comparison came to
}

func selftest(c *cli.Context, env environment) error {
	p, err := ownPolicy(c)
	if err != nil {
		return err
	}
	shares, err := percentages(c.String("slowdowns"))
	if err != nil {
		return err
	}
	if c.Int("comparisons") < 1 {
		return usagef("--comparisons must be at least 1")
	}
	t, err := openTarget(c, env)
	if err != nil {
		return err
	}
	ctx, done := stoppable(c.Context, env)
	defer done()
	run := &gateRun{c: c, env: env, file: baseline.New()}
	base, slowed, err := run.slowedKernels(ctx, t, shares)
	defer run.residents.End()
	for _, side := range append(slowed, base) {
		if side != nil {
			defer side.close()
		}
	}
	if err != nil {
		return err
	}
	rows := make([]selftestRow, len(shares))
	for i, share := range shares {
		rows[i] = selftestRow{Slowdown: share, Verdicts: map[gate.Verdict]int{}, Reasons: map[string]int{}}
	}
	if err := compareAll(ctx, c, env, base, slowed, rows, p); err != nil && ctx.Err() == nil {
		return err
	}
	if err := concludeSelftest(c, env, t, rows); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return answer(exitInterrupted) // with what there is
	}
	return nil
}

// compareAll does the comparisons. The slowdowns take turns, so that an hour of
// noise hits all of them.
func compareAll(ctx context.Context, c *cli.Context, env environment, base *configuration, slowed []*configuration, rows []selftestRow, p gate.Policy) error {
	for n := range c.Int("comparisons") {
		for i := range rows {
			if err := rows[i].add(ctx, base, slowed[i], p, c.Uint64("seed")+uint64(n)); err != nil {
				return err
			}
		}
		var last []string
		for _, r := range rows {
			last = append(last, r.last)
		}
		fmt.Fprintf(env.stderr, "%d of %d comparisons per slowdown: %s\n", n+1, c.Int("comparisons"), strings.Join(last, "; "))
	}
	return nil
}

func concludeSelftest(c *cli.Context, env environment, t *target, rows []selftestRow) error {
	rows = slices.DeleteFunc(rows, func(r selftestRow) bool { return r.Comparisons == 0 })
	if c.Bool("json") {
		return page.JSON(env.stdout, rows)
	}
	return printSelftest(env, t, rows)
}

// slowedKernels prepares the kernel without a slowdown and once for each.
func (r *gateRun) slowedKernels(ctx context.Context, t *target, shares []float64) (base *configuration, slowed []*configuration, err error) {
	from, err := r.sourceFolder(t.kernel)
	if err != nil {
		return nil, nil, err
	}
	cache, err := r.cacheFolder()
	if err != nil {
		return nil, nil, err
	}
	var calibrated spin.Calibration
	build := func(share float64) (*configuration, error) {
		folder := filepath.Join(cache, "selftest", fmt.Sprintf("%s-%s-%g", t.kernel.Name, t.kernel.Backend, 100*share))
		if err := spin.Write(t.kernel, from, folder, share, calibrated); err != nil {
			return nil, err
		}
		k, err := kernels.Load(folder, t.kernel.Backend)
		if err != nil {
			return nil, err
		}
		side, err := r.openConfiguration(ctx, k, t.accelerator, t.workload.Name, r.c.String("at"))
		if err != nil {
			return nil, err
		}
		if side.prepared.Failure != nil {
			return side, fmt.Errorf("kernel %s, slowed by %g %%: %s", t.kernel.Name, 100*share, side.prepared.Failure)
		}
		failure, err := side.evaluator.Verify(ctx, side.prepared)
		if failure != nil {
			return side, fmt.Errorf("kernel %s, slowed by %g %%: %s", t.kernel.Name, 100*share, failure)
		}
		return side, err
	}
	if base, err = build(0); err != nil {
		return base, nil, err
	}
	if t.accelerator != nil && slices.Max(shares) > 0 {
		if err := calibrate(ctx, base, func(c spin.Calibration) { calibrated = c }, build); err != nil {
			return base, nil, err
		}
	}
	for _, share := range shares {
		side, err := build(share)
		slowed = append(slowed, side)
		if err != nil {
			return base, slowed, err
		}
	}
	return base, slowed, nil
}

// calibrationShares are the slowdowns that the spin is calibrated by, one after the
// other. The last is near those that are injected.
var calibrationShares = []float64{0.3, 0.05}

// calibrate finds out how long the kernel takes on a GPU, and what a spin makes of
// it.
func calibrate(ctx context.Context, base *configuration, set func(spin.Calibration), build func(share float64) (*configuration, error)) error {
	alone, err := timesInTurns(ctx, base)
	if err != nil {
		return err
	}
	learnt := spin.Begin(stats.Median(alone[0]))
	for _, share := range calibrationShares {
		set(learnt)
		slowed, err := build(share)
		if err != nil {
			return err
		}
		times, err := timesInTurns(ctx, base, slowed)
		slowed.close()
		if err != nil {
			return err
		}
		ratios := make([]float64, len(times[0]))
		for i := range ratios {
			ratios[i] = times[1][i] / times[0][i]
		}
		learnt = learnt.Learn(share, stats.Median(ratios))
	}
	set(learnt)
	return nil
}

// timesInTurns measures sides in turns, in a few processes that they share, and
// returns the medians of each, in milliseconds.
func timesInTurns(ctx context.Context, sides ...*configuration) ([][]float64, error) {
	const processes, samples = 10, 20
	times := make([][]float64, len(sides))
	for range processes {
		sides[0].evaluator.Refresh()
		for i, side := range sides {
			outcome, err := side.evaluator.Sample(ctx, side.prepared, samples)
			if err != nil {
				return nil, err
			}
			if outcome.Failure != nil {
				return nil, fmt.Errorf("calibrating the spin: %s", outcome.Failure)
			}
			times[i] = append(times[i], outcome.Milliseconds())
		}
	}
	return times, nil
}

func (r *selftestRow) add(ctx context.Context, base, slowed *configuration, p gate.Policy, seed uint64) error {
	began := time.Now()
	c, err := gate.Compare(ctx, newArmMeasurer(map[gate.Arm]*configuration{gate.Baseline: base, gate.Control: base, gate.Candidate: slowed}), p, gate.Options{Seed: seed, Samples: base.samples(0)})
	if err != nil {
		return err
	}
	r.last = string(c.Verdict)
	r.Comparisons++
	r.Verdicts[c.Verdict]++
	if slices.ContainsFunc(c.Tails, func(t gate.Tail) bool { return t.Slower }) {
		r.Warned++
	}
	if c.Verdict == gate.Inconclusive {
		reason, _, _ := strings.Cut(c.Reason, ":")
		r.Reasons[reason]++
	}
	if c.Evidence != nil {
		r.last = fmt.Sprintf("%s, %+.1f %% in %d rounds", c.Verdict, 100*c.Evidence.Change, c.Evidence.Rounds)
		r.Changes = append(r.Changes, c.Evidence.Change)
		r.Rounds = append(r.Rounds, float64(c.Evidence.Rounds))
	}
	r.Seconds = append(r.Seconds, time.Since(began).Seconds())
	return nil
}

func printSelftest(env environment, t *target, rows []selftestRow) error {
	fmt.Fprintf(env.stdout, "%s, workload %s; in brackets the 95 %% interval of a rate\n\n", t.kernel.Name, t.workload.Name)
	header := []string{"slowdown", "comparisons"}
	for _, verdict := range selftestVerdicts {
		header = append(header, string(verdict))
	}
	header = append(header, "tail warned", "median change", "median rounds", "median time")
	var table [][]string
	for _, r := range rows {
		row := []string{fmt.Sprintf("%.4g %%", 100*r.Slowdown), fmt.Sprint(r.Comparisons)}
		for _, verdict := range selftestVerdicts {
			row = append(row, streams.Rate{Times: r.Verdicts[verdict], Of: r.Comparisons}.String())
		}
		row = append(row, streams.Rate{Times: r.Warned, Of: r.Comparisons}.String())
		change, rounds := "~", "~"
		if len(r.Changes) > 0 {
			change, rounds = fmt.Sprintf("%+.2f %%", 100*stats.Median(r.Changes)), fmt.Sprint(stats.Median(r.Rounds))
		}
		table = append(table, append(row, change, rounds, fmt.Sprintf("%.1f s", stats.Median(r.Seconds))))
	}
	if err := page.Table(env.stdout, header, table); err != nil {
		return err
	}
	for _, r := range rows {
		for _, reason := range slices.Sorted(maps.Keys(r.Reasons)) {
			fmt.Fprintf(env.stdout, "inconclusive at %g %%: %s, %d times\n", 100*r.Slowdown, reason, r.Reasons[reason])
		}
	}
	return nil
}

// selftestVerdicts are those that a comparison of two working kernels can have.
var selftestVerdicts = []gate.Verdict{gate.Regression, gate.Improvement, gate.Maintained, gate.NoDifference, gate.Inconclusive}

// percentages reads numbers such as 0,1,2.5.
func percentages(text string) ([]float64, error) {
	var shares []float64
	for word := range strings.SplitSeq(text, ",") {
		value, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(word), "%"), 64)
		if err != nil || !(value >= 0 && value <= 1000) {
			return nil, usagef("--slowdowns %q: percentages such as 0,1,2.5", text)
		}
		shares = append(shares, value/100)
	}
	return shares, nil
}
