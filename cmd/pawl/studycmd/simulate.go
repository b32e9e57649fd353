package studycmd

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/page"
	"pawl/search/sampler"
	"pawl/search/simulate"
)

type raceOptions struct {
	console.Common
	simulate.Options
	samplers string // separated by commas, empty for all
}

func SimulateCommand(env console.Environment) *cli.Command {
	o := raceOptions{Common: console.In(env)}
	return &cli.Command{
		Name:      "simulate",
		Usage:     "race samplers over recorded spaces",
		ArgsUsage: "FILE...",
		Description: console.Details(
			"Searches each recorded space with each sampler, many times, and reports how near to the optimum\n"+
				"each came. Reads pawl's records, Kernel Tuner caches and T4 files, plain or gzip.",
			"pawl simulate record.json --sampler auto,random --seeds 20 --trials 100",
			"0 done", "3 a file cannot be read", "64 usage"),
		Flags: append([]cli.Flag{
			console.TextOr("sampler", &o.samplers, "all",
				"the `NAMES` of samplers, separated by commas: "+strings.Join(sampler.Names(), ", ")),
			console.Number("seeds", &o.Seeds, 1, 100, "how many searches per space and sampler"),
			console.Seed("seed", &o.FirstSeed, 0, "", "the first of the seeds"),
			console.Number("trials", &o.Trials, 1, 200, "how many evaluations per search"),
			console.NumberOr("ahead", &o.Ahead, 1, "what tune has on such a device",
				"how many trials are in flight at most: asked and not yet finished"),
			console.Number("devices", &o.Devices, 1, 1, "how many points are measured at once, as on a farm"),
			console.Text("warm", &o.Warm, "",
				"also begin with what a search of the recorded space in this `FILE` has learned"),
			console.NumberOr("earlier-trials", &o.EarlierTrials, 1, "as many as --trials",
				"how many trials the search has that a warm one learns from"),
			console.Switch("clock", &o.Clock,
				"measure budgets by recorded costs, a trial being the time in which an average point is finished, and show "+
					"what taking them into account is worth"),
			console.Switch("check-bound", &o.Regret, "check how often the bound on what is left to gain holds"),
		}, o.Flags("json")...),
		Action: console.Action(o.runSimulation),
	}
}

func (o *raceOptions) runSimulation(ctx context.Context, files []string) (err error) {
	if o.Files = files; len(files) == 0 {
		return console.Usagef("name at least one recorded space")
	}
	if o.Samplers, err = samplerList(o.samplers); err != nil {
		return err
	}
	progress, finish := console.SimulationBar(o.Environment)
	o.Progress = progress
	report, err := simulate.Run(ctx, o.Options)
	finish()
	if err != nil {
		return err
	}
	if o.JSON {
		return page.JSON(o.Stdout, "pawl simulate", 1, report)
	}
	return report.WriteTable(o.Stdout)
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
