package main

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/internal/page"
	"pawl/search"
	"pawl/studies"
)

func studiesCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:  "studies",
		Usage: "look at what was recorded",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the studies, newest first",
				Description: details("One line per study.", "pawl studies list --out tuning", "0 done", "2 no studies", "3 the machinery failed", "64 usage"),
				Flags:       []cli.Flag{outFlag, jsonFlag},
				Action:      func(c *cli.Context) error { return listStudies(c, env) },
			},
			{
				Name: "show", Usage: "show a study's trials", ArgsUsage: "[STUDY]",
				Description: details("Every trial in the order asked; the last study when none is named.", "pawl studies show 3", "0 done", "2 no study", "3 the machinery failed", "64 usage"),
				Flags:       []cli.Flag{outFlag, jsonFlag},
				Action:      func(c *cli.Context) error { return showStudy(c, env) },
			},
			{
				Name: "export", Usage: "print a study as a record that can be replayed", ArgsUsage: "[STUDY]",
				Description: details("Writes the whole study, raw samples included, as JSON on standard output: in pawl's own format, in\nthe community's T4, or as a journal that Optuna and its dashboard open. --record converts a recorded space instead.", "pawl studies export 3 --format optuna > journal.log && optuna-dashboard journal.log", "0 done", "2 no study", "3 the machinery failed", "64 usage"),
				Flags: []cli.Flag{outFlag,
					&cli.StringFlag{Name: "format", Value: "pawl", Usage: "pawl, t4 or optuna"},
					&cli.StringFlag{Name: "record", DefaultText: "a study", Usage: "a recorded `FILE`, or an embedded record's name"}},
				Action: func(c *cli.Context) error { return exportStudy(c, env) },
			},
		},
	}
}

// nothingError turns a missing database into the answer that there is nothing.
func nothingError(env environment, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(env.stderr, "pawl: %v; pawl tune makes one\n", err)
		return answer(exitNothing)
	}
	return err
}

// studyLine is a study in the list.
type studyLine struct {
	studies.Study
	Trials int      `json:"trials"`
	Best   *float64 `json:"best_milliseconds,omitempty"`
}

func listStudies(c *cli.Context, env environment) error {
	store, err := openExisting(c, env)
	if err != nil {
		return err
	}
	defer store.Close()
	all, err := store.List(c.Context)
	if err != nil {
		return err
	}
	var lines []studyLine
	for _, s := range all {
		if s.Damaged != "" {
			lines = append(lines, studyLine{Study: s})
			continue
		}
		past, err := store.Past(c.Context, s.ID)
		if err != nil {
			return err
		}
		line := studyLine{Study: s, Trials: len(past.Trials)}
		if ranked := search.Ranking(past.Trials); len(ranked) > 0 {
			best := ranked[0].Outcome.Milliseconds()
			line.Best = &best
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		fmt.Fprintf(env.stderr, "pawl: no studies in %s; pawl tune makes one\n", store.Path())
		return answer(exitNothing)
	}
	if c.Bool("json") {
		return page.JSON(env.stdout, lines)
	}
	var rows [][]string
	for _, l := range lines {
		if l.Damaged != "" {
			rows = append(rows, []string{fmt.Sprint(l.ID), "?", "?", "?", "?", "?", "?", "?", "damaged"})
			continue
		}
		best, ended := "~", string(l.Ended)
		if l.Best != nil {
			best = page.Milliseconds(*l.Best)
		}
		if ended == "" {
			ended = "interrupted"
		}
		rows = append(rows, []string{
			fmt.Sprint(l.ID), l.Created.Local().Format("2006-01-02 15:04"), l.Kernel, l.Workload, l.Sampler,
			fmt.Sprint(l.Trials), best, l.Elapsed.Round(time.Second).String(), ended,
		})
	}
	return page.Table(env.stdout, []string{"study", "created", "kernel", "workload", "sampler", "trials", "best", "time", "ended"}, rows)
}

func showStudy(c *cli.Context, env environment) error {
	study, past, err := openPast(c, env)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return page.JSON(env.stdout, struct {
			Study  studies.Study  `json:"study"`
			Trials []search.Trial `json:"trials"`
			Rounds []search.Round `json:"rounds"`
		}{study, past.Trials, past.Rounds})
	}
	fmt.Fprintf(env.stdout, "study %d: %s, workload %s, sampler %s, seed %d\n\n", study.ID, study.Kernel, study.Workload, study.Sampler, study.Seed)
	var rows [][]string
	for _, t := range past.Trials {
		rows = append(rows, []string{fmt.Sprint(t.Number), trialTime(t), fmt.Sprint(len(t.Outcome.Samples)), t.Point.String(), trialNote(t)})
	}
	return page.Table(env.stdout, []string{"trial", "median", "samples", "point", ""}, rows)
}

func trialTime(t search.Trial) string {
	if !t.OK() {
		return "~"
	}
	return page.Milliseconds(t.Outcome.Milliseconds())
}

func trialNote(t search.Trial) string {
	switch {
	case !t.Told:
		return "abandoned"
	case t.Outcome.Failure != nil:
		return t.Outcome.Failure.String()
	case t.Outcome.SameAs != "":
		return "same machine code as " + t.Outcome.SameAs
	}
	return string(t.Outcome.Stop)
}
