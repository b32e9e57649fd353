package studycmd

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/page"
	"pawl/search"
	"pawl/search/sampler"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/dialog"
	"pawl/studies/report"
	"pawl/studies/tune"
)

type askOptions struct {
	console.Common
	trial.Goals
	given  []string
	file   string
	resume bool
}

func AskCommand(env console.Environment) *cli.Command {
	o := askOptions{Common: console.In(env)}
	return &cli.Command{
		Name:      "ask",
		Usage:     "search a space whose points your own program measures",
		ArgsUsage: "SPACE.yaml",
		Description: console.Details(
			"Reads one JSON object a line and answers each with one: {\"do\": \"ask\"} gives the next point,\n"+
				"{\"do\": \"tell\", \"trial\": 0, \"ms\": [1.9, 2.0]} or {..., \"failure\": \"REASON\"} says what came of it,\n"+
				"{\"do\": \"best\"} and {\"do\": \"report\"} say what is known. SPACE.yaml has the params and constraints of a\n"+
				"manifest. When the trials are done, the finalists are asked for again, in rounds; then ask answers\n"+
				"{\"done\": ...}. The end of the input ends it and writes the report; --resume hands out again what was\n"+
				"asked and not told.",
			"pawl ask space.yaml --trials 40 --resume",
			"0 done", "2 no point passed", "3 internal or environment error", "64 usage", "130 stopped"),
		Flags: append(o.Flags("seed", "order-seed", "out", "db"), o.flags()...),
		Action: func(c *cli.Context) (err error) {
			if o.file, err = console.AtMostOne(c.Args().Slice(), "space"); err != nil {
				return err
			}
			if o.file == "" {
				return console.Usagef("which space? pawl ask SPACE.yaml names its file")
			}
			o.given, o.Backend = c.FlagNames(), studies.Ask
			return o.runAsk(c.Context)
		},
	}
}

// flags are those that are not shared with other commands.
func (o *askOptions) flags() []cli.Flag {
	return []cli.Flag{
		console.TextOr("workload, w", &o.Workload, "default",
			"the `NAME` of what is measured: each has studies of its own"),
		console.TextOr("device", &o.Device, "none",
			"the `NAME` of the device that you measure on: each has studies of its own"),
		console.NumberOr("trials", &o.Trials, 1, "no limit", "the largest `NUMBER` of trials"),
		console.TimeOr("budget", &o.Budget, "no limit", "the `TIME` for search and confirmation"),
		console.Text("sampler", &o.Sampler, sampler.Default,
			"how points are chosen: "+strings.Join(sampler.Names(), ", ")),
		console.Switch("resume", &o.resume,
			"resume the last study of the same space, workload and device, if there is one"),
		console.Switch("ignore-earlier", &o.Cold, "learn nothing from earlier studies"),
		console.Switch("wide", &o.Wide, "also search the values listed under more in the space"),
		console.Fix(&o.Fix), console.Only(&o.Only),
		console.Number("finalists", &o.Finalists, 1, 5, "how many points are confirmed"),
		&cli.IntFlag{Name: "rounds", Destination: &o.Rounds, Value: 10, Usage: "how many rounds of confirmation"},
	}
}

func (o *askOptions) runAsk(ctx context.Context) error {
	signal.Ignore(syscall.SIGPIPE) // an asker that is gone is the end of the input, and the report is still written
	ctx, interruption, done := o.Interruptible(ctx, o.Stderr, "the same command with --resume")
	defer done()
	pages := func(ctx context.Context, store *studies.Store, study int64) (*report.Summary, string, error) {
		summary, files, err := report.Publish(ctx, store, o.Out, study)
		if err != nil {
			return summary, "", err
		}
		return summary, files.Written[0], nil
	}
	var path string
	summary, err := tune.Run(ctx, tune.Options{
		Study: studies.Options{Definition: o.Definition, Goals: o.Goals},
		Given: o.given, Kernel: o.file, Resume: o.resume, Database: o.Database(), Version: console.Version(),
		Tools: o.Tools(), Stop: interruption.Stop.Done(), OrderSeed: o.Order(), Place: o.Place,
		Observer: askedBefore{to: o.Stderr, interruption: interruption},
		Loop: func(ctx context.Context, session *search.Session, store *studies.Store, study studies.Study) error {
			return dialog.Run(ctx, o.Stdin, o.Stdout, interruption.Stop.Done(), dialog.Study{
				Session: session,
				Summary: func(ctx context.Context) (*report.Summary, error) { return report.Read(ctx, store, study.ID) },
				Report: func(ctx context.Context) (*report.Summary, string, error) {
					return pages(ctx, store, study.ID)
				},
			})
		},
	})
	if err != nil {
		return err
	}
	left := context.WithoutCancel(ctx)
	store, err := studies.OpenExisting(left, o.Database())
	if err != nil {
		return err
	}
	defer store.Close()
	store.Place = o.Place
	if summary, path, err = pages(left, store, summary.Study.ID); err != nil {
		return err
	}
	fmt.Fprintf(o.Stderr, "%s: %s\nwrote %s\n", summary.Advice.Verdict, summary.Advice.Sentence, filepath.ToSlash(path))
	switch {
	case interruption.Stopped():
		return console.Answer(console.ExitInterrupted)
	case summary.Search.OK == 0:
		return console.Answer(console.ExitNothing)
	}
	return nil
}

// askedBefore says at the beginning which study it is.
type askedBefore struct {
	tune.Unobserved
	to           io.Writer
	interruption *console.Interruption
}

func (a askedBefore) Begin(study studies.Study, past trial.Past, pool *space.Pool) {
	a.interruption.Polite.Store(true)
	fmt.Fprintf(a.to, "study %d: %s, workload %s, %s, %s asked before\n", study.ID, study.Kernel, study.Workload,
		page.Count(pool.Len(), "point"), page.Count(len(past.Trials), "trial"))
}
