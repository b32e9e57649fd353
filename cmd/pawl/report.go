package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/urfave/cli/v2"

	"pawl/internal/page"
	"pawl/search"
	"pawl/studies"
	"pawl/studies/report"
)

func reportCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "write a study's report again",
		ArgsUsage: "[STUDY]",
		Description: details(
			"Writes "+report.MarkdownName+", "+report.JSONName+" and "+report.HTMLName+" from the record; the last study when none is named.",
			"pawl report 3 --out tuning",
			"0 done", "2 no study", "3 the machinery failed", "64 usage"),
		Flags: []cli.Flag{outFlag, jsonFlag},
		Action: func(c *cli.Context) error {
			store, study, err := openStudy(c, env)
			if err != nil {
				return err
			}
			defer store.Close()
			summary, err := summarise(c.Context, store, study.ID)
			if err != nil {
				return err
			}
			files, err := report.WriteAll(c.String("out"), summary)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return page.JSON(env.stdout, summary)
			}
			return printSummary(env.stdout, summary, files)
		},
	}
}

// openStudy opens the study that the command line names, or the last one.
func openStudy(c *cli.Context, env environment) (*studies.Store, studies.Study, error) {
	id, err := studyNumber(c)
	if err != nil {
		return nil, studies.Study{}, err
	}
	store, err := openExisting(c, env)
	if err != nil {
		return nil, studies.Study{}, err
	}
	study, err := namedStudy(c, env, store, id)
	if err != nil {
		store.Close()
		return nil, studies.Study{}, err
	}
	return store, study, nil
}

// openPast reads the study that the command line names, or the last one.
func openPast(c *cli.Context, env environment) (studies.Study, search.Past, error) {
	store, study, err := openStudy(c, env)
	if err != nil {
		return studies.Study{}, search.Past{}, err
	}
	defer store.Close()
	past, err := store.Past(c.Context, study.ID)
	return study, past, err
}

// studyNumber returns the number on the command line, 0 for none.
func studyNumber(c *cli.Context) (int64, error) {
	if c.NArg() == 0 {
		return 0, nil
	}
	if c.NArg() > 1 {
		return 0, usagef("one study at a time")
	}
	id, err := strconv.ParseInt(c.Args().First(), 10, 64)
	if err != nil || id < 1 {
		return 0, usagef("%q is not the number of a study; see pawl studies list", c.Args().First())
	}
	return id, nil
}

func openExisting(c *cli.Context, env environment) (*studies.Store, error) {
	store, err := studies.OpenExisting(c.Context, filepath.Join(c.String("out"), databaseName))
	if err != nil {
		return nil, nothingError(env, err)
	}
	printNotices(env, store)
	return store, nil
}

func namedStudy(c *cli.Context, env environment, store *studies.Store, id int64) (studies.Study, error) {
	if id > 0 {
		study, err := store.Study(c.Context, id)
		if errors.Is(err, studies.ErrNoStudy) {
			return studies.Study{}, usageError{err}
		}
		return study, err
	}
	all, err := store.List(c.Context)
	if err != nil {
		return studies.Study{}, err
	}
	if len(all) == 0 {
		fmt.Fprintf(env.stderr, "pawl: no studies in %s; pawl tune makes one\n", store.Path())
		return studies.Study{}, answer(exitNothing)
	}
	return store.Study(c.Context, all[0].ID) // a damaged one is not passed over
}
