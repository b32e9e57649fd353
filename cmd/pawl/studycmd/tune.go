package studycmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/objective/devices"
	"pawl/search"
	"pawl/search/sampler"
	"pawl/studies"
	"pawl/studies/report"
	"pawl/studies/tune"
)

type tuneOptions struct {
	console.GateFlags
	// asked is what is tuned and how.
	asked    tune.Options
	quick    bool // a rough answer will do
	gate     bool // the winner is compared with a baseline, by a policy
	priority int
}

func TuneCommand(env console.Environment) *cli.Command {
	o := tuneOptions{GateFlags: console.GateFlags{Common: console.In(env)}}
	goals := &o.asked.Study.Goals
	return &cli.Command{
		Name:      "tune",
		Usage:     "search a kernel's parameters and suggest the best",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Tunes an embedded kernel (attention by default) or the one in a folder: searches, compiles, checks, measures,\n"+
				"confirms the finalists in fresh processes and writes KERNEL/WORKLOAD/"+report.MarkdownName+" for a\n"+
				"reviewer, and "+report.MarkdownName+" as the index of all studies, below the folder of --out.\n"+
				"Everything is recorded as it happens; after an interruption, --resume continues.",
			"pawl tune attention --workload chat_256 --budget 2m",
			"0 done", "1 with --gate, if the winner is wrong or slower than the baseline", "2 no point passed",
			"3 internal or environment error", "64 usage", "130 stopped"),
		Flags: append(o.Flags("compiler", "caches", "lock-clocks", "seed", "order-seed", "out", "db", "cache", "json",
			"run-timeout", "compile-timeout"),
			console.FarmFlag(&o.Farm),
			console.TextOr("workload, w", &o.Workload, "the manifest's first",
				"the `NAME` of a workload in the manifest, several with commas between them, all, sizes "+
					"(B=8+S=384), a range of them to draw from (S=256..4096) or a file of sizes that were missed "+
					"(missed.jsonl): each has a study, and a share of the budget"),
			console.Choice("backend", &o.Backend, "", "where kernels run: auto, cuda, host, command, or replay of a --record",
				append(slices.Clone(devices.Backends), tune.Replay)...),
			console.TextOr("record", &o.Record, "the kernel's embedded one",
				"the recorded `FILE` that --backend replay answers from"),
			console.TimeOr("budget", &goals.Budget, fmt.Sprintf("%v, or none with --trials", search.DefaultBudget),
				"the `TIME` for search and confirmation; of a resumed study, for all of its runs together"),
			console.Switch("quick", &o.quick, fmt.Sprintf("a rough answer in %v, with one finalist", search.QuickBudget)),
			console.NumberOr("trials", &goals.Trials, 1, "no limit", "the largest `NUMBER` of trials"),
			&cli.GenericFlag{
				Name:        "target",
				Value:       &goals.Target,
				DefaultText: "none",
				Usage:       "stop searching at this `SPEEDUP` over the default, such as 1.10x",
			},
			&cli.GenericFlag{
				Name:        "regret",
				Value:       &goals.Regret,
				DefaultText: "never",
				Usage: "stop searching when the model guesses that at most this `SHARE` is left to gain, such as 1%, before " +
					"and after 45 random trials",
			},
			console.Text("sampler", &o.Sampler, sampler.Default,
				"how points are chosen: "+strings.Join(sampler.Names(), ", ")),
			console.Switch("wide", &o.Wide, "also search the values listed under more in the manifest"),
			console.Fix(&o.Fix), console.Only(&o.Only),
			console.Switch("resume", &o.asked.Resume, "resume the last study of the same kernel, workload and sources"),
			console.Switch("ignore-earlier", &o.Cold, "learn nothing from earlier studies"),
			console.Switch("across", &o.asked.Study.Across,
				"measure the winner on the kernel's other workloads too, in a part of the budget"),
			console.Switch("profile", &o.asked.Profile,
				"let a profiler look at the default and the winner when they are confirmed, so that the page says why; see "+
					"pawl profile"),
			console.Switch("gate", &o.gate, "compare the winner with the baseline, as pawl gate --study does"),
			console.PolicyFlag(&o.Policy), console.BaselineFlag(&o.Baseline),
			console.TextOr("on", &o.On, "this machine",
				"let a farm's machines with this `LABEL` compile and measure, a part of their device's name such as h200, "+
					"or replay; --db says which farm"),
			&cli.IntFlag{
				Name:        "priority",
				Destination: &o.priority,
				DefaultText: "3",
				Usage:       "1 to 4 on a farm: what has a lower `NUMBER` goes first",
			},
			console.NumberOr("lanes", &o.asked.Lanes, 1, "one per core", "how many compilers run at once"),
			console.Number("samples", &o.Samples, 2, 5,
				"the fewest samples of a trial; a promising one gets more; with 5 or fewer, a hopeless one has 3 launches "+
					"on a GPU"),
			console.Number("finalists", &goals.Finalists, 1, 5, "how many points are confirmed"),
			&cli.IntFlag{
				Name:        "rounds",
				Destination: &goals.Rounds,
				Value:       10,
				Usage:       "how many rounds of confirmation, each in fresh processes",
			},
		),
		Action: func(c *cli.Context) (err error) {
			if o.asked.Kernel, err = console.AtMostOne(c.Args().Slice(), "kernel"); err != nil {
				return err
			}
			o.asked.Given = c.FlagNames()
			for _, name := range []string{"gate", "profile"} {
				if o.Backend == tune.Replay && c.Bool(name) {
					return console.Usagef("--%s cannot be combined with --backend replay", name)
				}
			}
			if o.quick && c.IsSet("budget") {
				return console.Usagef("--quick is a budget of %v: leave out --budget", search.QuickBudget)
			}
			if o.quick {
				goals.Budget, goals.Finalists = search.QuickBudget, 1
			}
			if o.On == "" && (o.Farm != "" || o.priority != 0) {
				return console.Usagef("--farm and --priority are for a farm: --on LABEL says which of its machines")
			}
			if o.priority < 0 || o.priority > 4 {
				return console.Usagef("--priority must be 1 to 4")
			}
			return o.runTune(c.Context)
		},
	}
}

// orderSeed draws the orders of measurements. What is replayed has none, and is the same every
// time.
func (o *tuneOptions) orderSeed() uint64 {
	if o.Backend == tune.Replay {
		return o.OrderSeed
	}
	return o.Order()
}

func (o *tuneOptions) runTune(ctx context.Context) error {
	display := console.NewDisplay(o.Stderr)
	ctx, interruption, done := o.Interruptible(ctx, display, "the same command with --resume")
	defer done()
	// From the beginning of a study on, nothing is lost.
	display.Begun = func() { interruption.Polite.Store(true) }
	if tune.SeveralWorkloads(o.Workload) && o.Backend != tune.Replay {
		return o.tuneWorkloads(ctx, display, interruption)
	}
	_, err := o.tuneOne(ctx, display, interruption)
	return err
}

// onFarm says which machines of a farm are asked; nil is this machine.
func (o *tuneOptions) onFarm(database string) (*tune.Farm, error) {
	if o.On == "" {
		return nil, nil
	}
	options, err := console.FarmIn(database, o.Farm)
	if err != nil {
		return nil, err
	}
	return &tune.Farm{Options: options, On: o.On, Priority: o.priority}, nil
}

// tuneOne tunes one workload, and prints what came of it.
func (o *tuneOptions) tuneOne(ctx context.Context, display *console.Display,
	interruption *console.Interruption) (report.Verdict, error) {
	database := o.Database()
	asked := o.asked
	var err error
	if asked.Farm, err = o.onFarm(database); err != nil {
		return "", err
	}
	asked.Study.Definition, asked.OrderSeed, asked.Version = o.Definition, o.orderSeed(), console.Version()
	asked.Database, asked.Tools, asked.Place, asked.BenchTime = database, o.Tools(), o.Place, o.BenchTime
	asked.Stop, asked.Observer = interruption.Stop.Done(), display
	summary, err := tune.Run(ctx, asked)
	if err != nil {
		return "", err
	}
	left := context.WithoutCancel(ctx)
	store, err := studies.OpenExisting(left, database)
	if err != nil {
		return "", err
	}
	defer store.Close()
	store.Place = o.Place
	var standing studies.Standing
	if o.gate && !interruption.Stopped() {
		if standing, err = o.gateTuned(ctx, interruption.Stop, store, summary.Study.ID); err != nil {
			return "", err
		}
	}
	if summary, err = concludeStudy(left, &o.Common, store, summary.Study.ID); err != nil {
		return "", err
	}
	switch {
	case interruption.Stopped():
		if !o.JSON {
			fmt.Fprintf(o.Stderr, "\nstopped; this continues:\n  %s\n", summary.Study.Resume(o.onDevices()...))
		}
		return summary.Advice.Verdict, console.Answer(console.ExitInterrupted)
	case summary.Search.OK == 0:
		return summary.Advice.Verdict, console.Answer(console.ExitNothing)
	case standing == studies.Refused:
		return summary.Advice.Verdict, console.Answer(console.ExitNo)
	}
	return summary.Advice.Verdict, nil
}

// onDevices are the words that ask a farm again.
func (o *tuneOptions) onDevices() []any {
	if o.On == "" {
		return nil
	}
	return []any{"--on", o.On}
}

// gateTuned compares the winner of a study that has just ended with the baseline. The pages
// are written before it, so that they are there in any case.
func (o *tuneOptions) gateTuned(ctx, stop context.Context, store *studies.Store,
	study int64) (studies.Standing, error) {
	if _, _, err := report.Publish(context.WithoutCancel(ctx), store, o.Out, study); err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(stop, cancel)()
	fmt.Fprintln(o.Stderr, "comparing the winner with the baseline: interleaved, in fresh processes")
	gated := o.GateFlags
	gated.Study = study
	gated.Workload, gated.At = "", "" // the study's own
	outcome, err := gated.HoldWinner(ctx, store, o.asked.Kernel)
	switch {
	case err == nil:
		return outcome.Gating.Standing, nil
	case errors.As(err, new(*devices.NothingError)), ctx.Err() != nil:
		o.Notice("the winner was not compared with the baseline: " + err.Error())
		return "", nil
	}
	again := append([]any{"gate", "--study", study}, o.onDevices()...)
	return "", fmt.Errorf("%w\nThe study itself is recorded: %s compares its winner with the baseline", err,
		o.Pawl(again...))
}
