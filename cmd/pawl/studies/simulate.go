package studies

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/page"
	"pawl/search/sampler"
	"pawl/search/simulate"
)

// raceOptions are the flags of pawl simulate.
type raceOptions struct {
	console.Common
	simulate.Options
	samplers string // separated by commas, empty for all
	figure   string // the file for the curves, empty for none
	settings string // changes to the samplers' settings, empty for none
	pairs    bool   // compare warm with cold over every two files of one kernel
	farm     string // numbers of machines, empty for none
	deaths   time.Duration
}

func SimulateCommand(env console.Environment) *cli.Command {
	var o raceOptions
	return &cli.Command{
		Name:      "simulate",
		Usage:     "race samplers over recorded spaces",
		ArgsUsage: "FILE...",
		Description: console.Details(
			"Searches each recorded space with each sampler, many times, and reports how near to the optimum\n"+
				"each came. Reads pawl's records, Kernel Tuner caches and T4 files, plain or gzip.",
			"pawl simulate record.json --sampler tpe,random --seeds 20 --trials 100",
			"0 done", "3 a file cannot be read", "64 usage"),
		Flags: append([]cli.Flag{
			&cli.StringFlag{
				Name:        "sampler",
				Destination: &o.samplers,
				DefaultText: "all",
				Usage:       "the `NAMES` of samplers, separated by commas: " + strings.Join(sampler.Names(), ", "),
			},
			&cli.IntFlag{
				Name:        "seeds",
				Destination: &o.Seeds,
				Value:       100,
				Action:      console.AtLeast("seeds", 1),
				Usage:       "how many searches per space and sampler",
			},
			&cli.Uint64Flag{Name: "seed", Destination: &o.FirstSeed, Usage: "the first of the seeds"},
			&cli.IntFlag{
				Name:        "trials",
				Destination: &o.Trials,
				Value:       200,
				Action:      console.AtLeast("trials", 1),
				Usage:       "how many evaluations per search",
			},
			&cli.IntFlag{
				Name:        "ahead",
				Destination: &o.Ahead,
				DefaultText: "what tune has on such a device",
				Action:      console.AtLeast("ahead", 1),
				Usage:       "how many trials are in flight at most: asked and not yet finished",
			},
			&cli.BoolFlag{
				Name:               "full",
				Destination:        &o.Full,
				DisableDefaultText: true,
				Usage:              "keep that many in flight all the time, instead of as many as are worth it",
			},
			&cli.IntFlag{
				Name:        "lanes",
				Destination: &o.Lanes,
				DefaultText: "as many as are in flight",
				Action:      console.AtLeast("lanes", 1),
				Usage:       "how many points are compiled at once",
			},
			&cli.BoolFlag{
				Name:               "in-order",
				Destination:        &o.InOrder,
				DisableDefaultText: true,
				Usage:              "measure points in the order asked, instead of those first that are compiled and promise most",
			},
			&cli.StringFlag{
				Name:        "device-time",
				Destination: (*string)(&o.DeviceTime),
				DefaultText: string(simulate.AsRecorded),
				Usage: "how long a trial takes a GPU: as recorded, as in tune, or in full, as in tune before a first look " +
					"ended hopeless points",
			},
			&cli.StringFlag{
				Name:        "settings",
				Destination: &o.settings,
				Usage:       "change numbers of the samplers, by `JSON` such as {\"GP\":{\"Inflation\":2}}",
			},
			&cli.BoolFlag{
				Name:               "noise",
				Destination:        &o.Noise,
				DisableDefaultText: true,
				Usage:              "answer with one recorded sample instead of the recorded time",
			},
			&cli.StringFlag{
				Name:        "warm",
				Destination: &o.Warm,
				Usage:       "also begin with what a search of the recorded space in this `FILE` has learned",
			},
			&cli.BoolFlag{
				Name:               "pairs",
				Destination:        &o.pairs,
				DisableDefaultText: true,
				Usage: "show what a study of one file is worth to a search of another of the same kernel, for " +
					"every two (one sampler, auto by default)",
			},
			&cli.IntFlag{
				Name:        "earlier-trials",
				Destination: &o.EarlierTrials,
				DefaultText: "as many as --trials",
				Action:      console.AtLeast("earlier-trials", 1),
				Usage:       "how many trials the search has that a warm one learns from",
			},
			&cli.BoolFlag{
				Name:               "clock",
				Destination:        &o.Clock,
				DisableDefaultText: true,
				Usage: "measure budgets by recorded costs, a trial being the time in which an average point is " +
					"finished, and show what taking them into account is worth",
			},
			&cli.BoolFlag{
				Name:               "regret",
				Destination:        &o.Regret,
				DisableDefaultText: true,
				Usage:              "check how often the bound on what is left to gain holds",
			},
			&cli.IntFlag{
				Name:        "parallel",
				Destination: &o.Parallel,
				DefaultText: "one per core",
				Usage:       "how many searches at a time",
			},
			&cli.StringFlag{
				Name:        "farm",
				Destination: &o.farm,
				DefaultText: "none",
				Usage: "instead of a race, let one sampler (auto by default) search on farms of so many machines, " +
					"`NUMBERS` with commas between them; see docs/farm.md",
			},
			&cli.DurationFlag{
				Name:        "deaths",
				Destination: &o.deaths,
				DefaultText: "never",
				Usage:       "with --farm, after which `TIME` a machine dies, on average",
			},
			&cli.StringFlag{Name: "figure", Destination: &o.figure, Usage: "write the curves to this SVG `FILE`"},
		}, o.Flags("json")...),
		Action: console.Action(func(ctx context.Context, arguments []string) error {
			o.Files = arguments
			return runSimulation(ctx, env, o)
		}),
	}
}

func runSimulation(ctx context.Context, env console.Environment, o raceOptions) (err error) {
	if len(o.Files) == 0 {
		return console.Usagef("name at least one recorded space")
	}
	if o.Samplers, err = samplerList(o.samplers); err != nil {
		return err
	}
	if o.farm != "" {
		return runFarms(ctx, env, o)
	}
	if asked := string(o.DeviceTime); asked != "" && !slices.Contains(simulate.DeviceTimes(), asked) {
		return console.Unknown("device time", asked, simulate.DeviceTimes())
	}
	if o.Clock && o.DeviceTime != "" && o.DeviceTime != simulate.AsRecorded {
		return console.Usagef("--clock counts recorded costs: leave out --device-time")
	}
	if o.settings != "" {
		settings, err := sampler.ParseSettings([]byte(o.settings))
		if err != nil {
			return console.Usagef("--settings: %v", err)
		}
		o.Settings = &settings
	}
	progress, finish := console.SimulationBar(env)
	o.Progress = progress
	if o.pairs {
		report, err := simulate.RunPairs(ctx, o.Options)
		finish()
		switch {
		case err != nil:
			return err
		case o.JSON:
			return page.JSON(env.Stdout, report)
		}
		return report.WriteTable(env.Stdout)
	}
	report, err := simulate.Run(ctx, o.Options)
	finish()
	if err != nil {
		return err
	}
	if o.figure != "" {
		if err := page.WriteFile(o.figure, report.WriteSVG); err != nil {
			return err
		}
		fmt.Fprintf(env.Stderr, "wrote %s\n", o.figure)
	}
	if o.JSON {
		return page.JSON(env.Stdout, report)
	}
	return report.WriteTable(env.Stdout)
}

// runFarms simulates farms of several sizes over one recorded space.
func runFarms(ctx context.Context, env console.Environment, o raceOptions) error {
	if len(o.Files) != 1 || len(o.Samplers) > 1 {
		return console.Usagef("--farm is for one recorded space and one sampler")
	}
	options := simulate.FarmOptions{Lanes: o.Lanes, Trials: o.Trials, Seeds: o.Seeds, Deaths: o.deaths}
	if len(o.Samplers) == 1 {
		options.Sampler = o.Samplers[0]
	}
	for _, text := range strings.Split(o.farm, ",") {
		machines, err := strconv.Atoi(text)
		if err != nil || machines < 1 || machines > 10_000 {
			return console.Usagef("--farm %q: numbers of machines, such as 1,10,100", o.farm)
		}
		options.Machines = append(options.Machines, machines)
	}
	rows, err := simulate.RunFarm(ctx, o.Files[0], options)
	switch {
	case err != nil:
		return err
	case o.JSON:
		return page.JSON(env.Stdout, rows)
	}
	return simulate.WriteFarm(env.Stdout, rows)
}

// samplerList splits and checks the names of samplers; none means all.
func samplerList(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	names := strings.Split(text, ",")
	for _, name := range names {
		if !slices.Contains(sampler.Names(), name) {
			return nil, console.Unknown("sampler", name, sampler.Names())
		}
	}
	return names, nil
}
