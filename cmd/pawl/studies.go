package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/internal/page"
	"pawl/kernels"
	"pawl/search"
	"pawl/search/confirm"
	"pawl/search/replay"
	"pawl/studies"
	"pawl/studies/report"
)

func studiesCommand(env environment) *cli.Command {
	var o studiesOptions
	return &cli.Command{
		Name:  "studies",
		Usage: "look at what was recorded",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the studies, newest first",
				Description: details("One line per study.", "pawl studies list --out tuning", "0 done", "2 no studies", "3 pawl could not do its work", "64 usage"),
				Flags:       o.flags("out", "json"),
				Action:      action(func(ctx context.Context, _ []string) error { return listStudies(ctx, env, o) }),
			},
			{
				Name: "show", Usage: "show a study's trials", ArgsUsage: "[STUDY]",
				Description: details("Every trial in the order asked; the last study when none is named.", "pawl studies show 3", "0 done", "2 no study", "3 pawl could not do its work", "64 usage"),
				Flags:       o.flags("out", "json"),
				Action:      action(func(ctx context.Context, arguments []string) error { return showStudy(ctx, env, o, arguments) }),
			},
			{
				Name: "export", Usage: "print a study as a record that can be replayed", ArgsUsage: "[STUDY]",
				Description: details("Writes the whole study, raw samples included, as JSON on standard output: in pawl's own format, in\nthe community's T4, or as a journal that Optuna and its dashboard open. --record converts a recorded space instead.", "pawl studies export 3 --format optuna > journal.log && optuna-dashboard journal.log", "0 done", "2 no study", "3 pawl could not do its work", "64 usage"),
				Flags: append(o.flags("out"),
					&cli.StringFlag{Name: "format", Destination: &o.format, Value: "pawl", Action: oneOf("format", "pawl", "t4", "optuna"), Usage: "pawl, t4 or optuna"},
					&cli.StringFlag{Name: "record", Destination: &o.record, DefaultText: "a study", Usage: "a recorded `FILE`, or an embedded record's name"}),
				Action: action(func(ctx context.Context, arguments []string) error { return exportStudy(ctx, env, o, arguments) }),
			},
			studiesAcrossCommand(env),
			studiesLessonsCommand(env),
		},
	}
}

// studiesOptions are the flags of pawl studies.
type studiesOptions struct {
	common
	format string // of an export
	record string // to export instead of a study
}

// openStudies opens the database in a folder. Where there is none, the answer is that
// there is nothing.
func openStudies(ctx context.Context, env environment, folder string) (*studies.Store, error) {
	store, err := studies.OpenExisting(ctx, filepath.Join(folder, kernels.DatabaseName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nothingf("%w; pawl tune makes one", err)
	}
	if err != nil {
		return nil, err
	}
	for _, notice := range store.Notices {
		env.notice(notice)
	}
	return store, nil
}

// openStudy opens the study that the arguments name, or the last one.
func openStudy(ctx context.Context, env environment, folder string, arguments []string) (*studies.Store, studies.Study, error) {
	none := studies.Study{}
	text, err := atMostOne(arguments, "study")
	if err != nil {
		return nil, none, err
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if text != "" && (err != nil || id < 1) {
		return nil, none, usagef("%q is not the number of a study; see pawl studies list", text)
	}
	store, err := openStudies(ctx, env, folder)
	if err != nil {
		return nil, none, err
	}
	if id == 0 {
		var all []studies.Study
		if all, err = store.List(ctx); err == nil && len(all) > 0 {
			id = all[0].ID // a damaged one is not passed over
		} else if err == nil {
			err = noStudies(store)
		}
	}
	study := none
	if err == nil {
		study, err = store.Study(ctx, id)
	}
	if errors.Is(err, studies.ErrNoStudy) {
		err = usage(err)
	}
	if err != nil {
		store.Close()
	}
	return store, study, err
}

func noStudies(store *studies.Store) error {
	return nothingf("no studies in %s; pawl tune makes one", store.Path())
}

func listStudies(ctx context.Context, env environment, o studiesOptions) error {
	store, err := openStudies(ctx, env, o.out)
	if err != nil {
		return err
	}
	defer store.Close()
	all, err := report.Lines(ctx, store)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return noStudies(store)
	}
	var rows [][]string
	for _, l := range all {
		rows = append(rows, l.Row())
	}
	if o.json {
		return page.JSON(env.stdout, all)
	}
	return page.Table(env.stdout, report.LineHeader, rows)
}

// readStudy reads the study that the arguments name, or the last one.
func readStudy(ctx context.Context, env environment, o studiesOptions, arguments []string) (studies.Study, search.Past, error) {
	store, study, err := openStudy(ctx, env, o.out, arguments)
	if err != nil {
		return study, search.Past{}, err
	}
	defer store.Close()
	past, err := store.Past(ctx, study.ID)
	return study, past, err
}

func showStudy(ctx context.Context, env environment, o studiesOptions, arguments []string) error {
	study, past, err := readStudy(ctx, env, o, arguments)
	if err != nil {
		return err
	}
	if o.json {
		return page.JSON(env.stdout, struct {
			Study  studies.Study   `json:"study"`
			Trials []search.Trial  `json:"trials"`
			Rounds []confirm.Round `json:"rounds"`
		}{study, past.Trials, past.Rounds})
	}
	fmt.Fprintf(env.stdout, "study %d: %s, workload %s, sampler %s, seed %d\n\n", study.ID, study.Kernel, study.Workload, study.Sampler, study.Seed)
	var rows [][]string
	for _, t := range past.Trials {
		median := "~"
		if t.OK() {
			median = study.Environment.Measure.Text(t.Outcome.Milliseconds())
		}
		rows = append(rows, []string{fmt.Sprint(t.Number), median, fmt.Sprint(len(t.Outcome.Samples)), t.Point.String(), trialNote(t)})
	}
	return page.Table(env.stdout, []string{"trial", study.Environment.Measure.Name(), "samples", "point", ""}, rows)
}

func trialNote(t search.Trial) string {
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

// exportStudy prints a study, or a record, as a record.
func exportStudy(ctx context.Context, env environment, o studiesOptions, arguments []string) error {
	if o.record != "" && len(arguments) > 0 {
		return usagef("a study or a --record, not both")
	}
	var record *replay.Record
	created := time.Unix(0, 0) // unknown of a record
	var err error
	if o.record != "" {
		record, err = replay.ReadFile(o.record)
	} else {
		var study studies.Study
		var past search.Past
		if study, past, err = readStudy(ctx, env, o, arguments); err == nil {
			record, err = study.Record(past)
			created = study.Created
		}
	}
	switch {
	case err != nil:
		return err
	case o.format == "t4":
		return record.WriteT4(env.stdout)
	case o.format == "optuna":
		return record.WriteOptuna(env.stdout, created)
	}
	return record.Write(env.stdout)
}
