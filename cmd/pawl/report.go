package main

import (
	"path/filepath"
	"strconv"

	"github.com/urfave/cli/v2"

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
			paths, err := report.WriteAll(c.String("out"), summary)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return report.JSON(env.stdout, summary)
			}
			return printSummary(env.stdout, summary, paths)
		},
	}
}

// openStudy opens the study that the command line names, or the last one.
func openStudy(c *cli.Context, env environment) (*studies.Store, studies.Study, error) {
	store, err := openExisting(c, env)
	if err != nil {
		return nil, studies.Study{}, err
	}
	study, err := namedStudy(c, store)
	if err != nil {
		store.Close()
		return nil, studies.Study{}, err
	}
	return store, study, nil
}

func openExisting(c *cli.Context, env environment) (*studies.Store, error) {
	store, err := studies.OpenExisting(c.Context, filepath.Join(c.String("out"), databaseName))
	if err != nil {
		return nil, nothingError(env, err)
	}
	return store, nil
}

func namedStudy(c *cli.Context, store *studies.Store) (studies.Study, error) {
	if c.NArg() > 1 {
		return studies.Study{}, usagef("one study at a time")
	}
	if c.NArg() == 1 {
		id, err := strconv.ParseInt(c.Args().First(), 10, 64)
		if err != nil {
			return studies.Study{}, usagef("%q is not the number of a study; see pawl studies list", c.Args().First())
		}
		study, err := store.Study(c.Context, id)
		if err != nil {
			return studies.Study{}, usageError{err}
		}
		return study, nil
	}
	all, err := store.List(c.Context)
	if err != nil {
		return studies.Study{}, err
	}
	if len(all) == 0 {
		return studies.Study{}, answer(exitNothing)
	}
	return all[0], nil
}
