package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"pawl/internal/page"
	"pawl/search/sampler"
	"pawl/search/simulate"
)

func simulateCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:      "simulate",
		Usage:     "race samplers over recorded spaces",
		ArgsUsage: "FILE...",
		Description: details(
			"Searches each recorded space with each sampler, many times, and reports how near to the optimum\n"+
				"each came. Reads pawl's records, Kernel Tuner caches and T4 files, plain or gzip.",
			"pawl simulate record.json --sampler tpe,random --seeds 20 --trials 100",
			"0 done", "3 a file cannot be read", "64 usage"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "sampler", DefaultText: "all", Usage: "the `NAMES` of samplers, separated by commas: " + strings.Join(sampler.Names(), ", ")},
			&cli.IntFlag{Name: "seeds", Value: 100, Usage: "how many searches per space and sampler"},
			&cli.Uint64Flag{Name: "seed", Value: 0, Usage: "the first of the seeds"},
			&cli.IntFlag{Name: "trials", Value: 200, Usage: "how many evaluations per search"},
			&cli.BoolFlag{Name: "noise", DisableDefaultText: true, Usage: "answer with one recorded sample instead of the recorded time"},
			&cli.StringFlag{Name: "warm", Usage: "also begin with what a search of the recorded space in this `FILE` has learned"},
			&cli.BoolFlag{Name: "clock", DisableDefaultText: true, Usage: "measure budgets by recorded costs, a trial being what the average point costs, and show what heeding them is worth"},
			&cli.BoolFlag{Name: "regret", DisableDefaultText: true, Usage: "check how often the bound on what is left to gain holds"},
			&cli.IntFlag{Name: "parallel", DefaultText: "one per core", Usage: "how many searches at a time"},
			&cli.StringFlag{Name: "figure", Usage: "write the curves to this SVG `FILE`"},
			jsonFlag,
		},
		Action: func(c *cli.Context) error { return runSimulation(c, env) },
	}
}

func runSimulation(c *cli.Context, env environment) error {
	if c.NArg() == 0 {
		return usagef("name at least one recorded space")
	}
	for _, name := range []string{"seeds", "trials"} {
		if c.Int(name) < 1 {
			return usagef("--%s must be at least 1", name)
		}
	}
	samplers, err := samplerList(c.String("sampler"))
	if err != nil {
		return err
	}
	progress, finish := simulationBar(env)
	report, err := simulate.Run(c.Context, simulate.Options{
		Files: c.Args().Slice(), Samplers: samplers, Seeds: c.Int("seeds"), FirstSeed: c.Uint64("seed"),
		Trials: c.Int("trials"), Noise: c.Bool("noise"), Warm: c.String("warm"), Clock: c.Bool("clock"), Regret: c.Bool("regret"), Parallel: c.Int("parallel"), Progress: progress,
	})
	finish()
	if err != nil {
		return err
	}
	if path := c.String("figure"); path != "" {
		if err := page.WriteFile(path, report.WriteSVG); err != nil {
			return err
		}
		fmt.Fprintf(env.stderr, "wrote %s\n", path)
	}
	if c.Bool("json") {
		return page.JSON(env.stdout, report)
	}
	return report.WriteTable(env.stdout)
}

// samplerList splits and checks the names of samplers; none means all.
func samplerList(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	names := strings.Split(text, ",")
	for _, name := range names {
		if err := checkSampler(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// simulationBar shows the progress on a terminal, and nothing elsewhere.
func simulationBar(env environment) (update func(done, total int), finish func()) {
	f, ok := env.stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, func() {}
	}
	bars := mpb.New(mpb.WithOutput(f), mpb.WithWidth(50), mpb.WithRefreshRate(200*time.Millisecond))
	bar := bars.AddBar(0,
		mpb.PrependDecorators(decor.CountersNoUnit("%d of %d searches ")),
		mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)))
	update = func(done, total int) {
		bar.SetTotal(int64(total), false)
		bar.SetCurrent(int64(done))
	}
	return update, func() {
		bar.SetTotal(-1, true)
		bars.Shutdown()
	}
}
