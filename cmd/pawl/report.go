package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/internal/page"
	"pawl/studies/report"
)

func reportCommand(env environment) *cli.Command {
	var o common
	return &cli.Command{
		Name:      "report",
		Usage:     "write a study's report again",
		ArgsUsage: "[STUDY]",
		Description: details(
			"Writes "+report.MarkdownName+", "+report.JSONName+" and "+report.HTMLName+" from the record; the last study when none is named.",
			"pawl report 3 --out tuning",
			"0 done", "2 no study", "3 pawl could not do its work", "64 usage"),
		Flags: o.flags("out", "json"),
		Action: action(func(ctx context.Context, arguments []string) error {
			store, study, err := openStudy(ctx, env, o.out, arguments)
			if err != nil {
				return err
			}
			defer store.Close()
			summary, err := report.Read(ctx, store, study.ID)
			if err != nil {
				return err
			}
			return concludeStudy(env, o, summary)
		}),
	}
}

// concludeStudy writes the reports of a study and prints the result.
func concludeStudy(env environment, o common, summary *report.Summary) error {
	files, err := report.WriteAll(o.out, summary)
	if err != nil {
		return fmt.Errorf("%w\nThe study itself is recorded: pawl report %d writes the report again", err, summary.Study.ID)
	}
	if o.json {
		return page.JSON(env.stdout, summary)
	}
	return report.Text(env.stdout, summary, files)
}
