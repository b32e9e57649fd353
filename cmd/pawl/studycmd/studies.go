// Package studies has the commands that make studies and use what they found: search, look at
// the record, report, apply, dispatch, show in a browser, and simulate searches from records.
package studycmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/page"
	"pawl/search/replay"
	"pawl/search/trial"
	"pawl/studies"
	"pawl/studies/tune"
)

func Command(env console.Environment) *cli.Command {
	o := options{Common: console.In(env)}
	return &cli.Command{
		Name:  "studies",
		Usage: "look at what was recorded",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the studies, newest first",
				Description: console.Details("One line per study.", "pawl studies list --out tuning", "0 done", "2 no studies",
					"3 internal or environment error", "64 usage"),
				Flags:  o.Flags("out", "db", "json"),
				Action: console.Alone(o.listStudies),
			},
			{
				Name: "show", Usage: "show a study's trials", ArgsUsage: "[STUDY]",
				Description: console.Details("Every trial in the order asked; the last study when none is named.",
					"pawl studies show 3", "0 done", "2 no studies", "3 internal or environment error", "64 usage"),
				Flags:  o.Flags("out", "db", "json"),
				Action: console.Action(o.showStudy),
			},
			{
				Name: "export", Usage: "print a study as a record that can be replayed", ArgsUsage: "[STUDY]",
				Description: console.Details("Writes the whole study, raw samples included, as JSON on standard output. "+
					"--record converts a\nrecorded space of another tool instead.",
					"pawl studies export 3 > record.json", "0 done", "2 no studies", "3 internal or environment error", "64 usage"),
				Flags: append(o.Flags("out", "db"),
					console.TextOr("record", &o.record, "a study", "a recorded `FILE`, or an embedded record's name")),
				Action: console.Action(o.exportStudy),
			},
			copyCommand(env),
			acrossCommand(env),
			noteCommand(env),
			deleteCommand(env),
		},
	}
}

type options struct {
	console.Common
	record string // to export instead of a study
}

func (o *options) readStudy(ctx context.Context, arguments []string) (studies.Study, trial.Past, error) {
	store, study, err := o.OpenStudy(ctx, arguments)
	if err != nil {
		return study, trial.Past{}, err
	}
	defer store.Close()
	past, err := store.Past(ctx, study.ID)
	return study, past, err
}

func (o *options) showStudy(ctx context.Context, arguments []string) error {
	study, past, err := o.readStudy(ctx, arguments)
	if err != nil {
		return err
	}
	if o.JSON {
		return page.JSON(o.Stdout, "pawl studies show", 1, struct {
			Study  studies.Study `json:"study"`
			Trials []trial.Trial `json:"trials"`
			Rounds []trial.Round `json:"rounds"`
		}{study, past.Trials, past.Rounds})
	}
	fmt.Fprintf(o.Stdout, "study %d: %s, workload %s, sampler %s, seed %d\n\n", study.ID, study.Kernel, study.Workload,
		study.Sampler, study.Seed)
	var rows [][]string
	for _, t := range past.Trials {
		median := "~"
		if t.OK() {
			median = study.Environment.Objective.Text(t.Outcome.Milliseconds())
		}
		rows = append(rows,
			[]string{fmt.Sprint(t.Number), median, fmt.Sprint(len(t.Outcome.Samples)), t.Point.String(), trialNote(t)})
	}
	page.Table(o.Stdout, []string{"trial", study.Environment.Objective.Name(), "samples", "point", ""}, rows)
	return nil
}

func trialNote(t trial.Trial) string {
	switch {
	case !t.Finished:
		return "abandoned"
	case t.Outcome.Failure != nil:
		return t.Outcome.Failure.String()
	case t.Outcome.SameAs != "":
		return "same machine code as " + t.Outcome.SameAs
	}
	return string(t.Outcome.Stop)
}

func (o *options) exportStudy(ctx context.Context, arguments []string) error {
	if o.record != "" && len(arguments) > 0 {
		return console.Usagef("a study or a --record, not both")
	}
	var record *replay.Record
	var err error
	if o.record != "" {
		record, err = replay.ReadFile(o.record)
	} else {
		var study studies.Study
		var past trial.Past
		if study, past, err = o.readStudy(ctx, arguments); err == nil {
			record, err = tune.Record(study, past)
		}
	}
	if err != nil {
		return err
	}
	return record.Write(o.Stdout)
}
