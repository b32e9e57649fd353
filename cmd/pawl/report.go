package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"pawl/internal/page"
	"pawl/studies"
	"pawl/studies/report"
)

func reportCommand(env environment) *cli.Command {
	var o common
	return &cli.Command{
		Name:      "report",
		Usage:     "write a study's report again",
		ArgsUsage: "[STUDY]",
		Description: details(
			"Writes a study's "+report.MarkdownName+", "+report.JSONName+" and "+report.HTMLName+" from the record, and the index of all\n"+
				"studies; the last study when none is named. The newest study of a kernel and workload has the\n"+
				"folder KERNEL/WORKLOAD, an older one KERNEL/WORKLOAD/study-N.",
			"pawl report 3 --out tuning",
			"0 done", "2 no study", "3 pawl could not do its work", "64 usage"),
		Flags: o.flags("out", "json"),
		Action: action(func(ctx context.Context, arguments []string) error {
			store, study, err := openStudy(ctx, env, o.out, arguments)
			if err != nil {
				return err
			}
			defer store.Close()
			_, err = concludeStudy(ctx, env, o, store, study.ID)
			return err
		}),
	}
}

// concludeStudy writes the pages of a study and the index, and prints the result.
func concludeStudy(ctx context.Context, env environment, o common, store *studies.Store, study int64) (*report.Summary, error) {
	summary, files, err := report.Publish(ctx, store, o.out, study)
	switch {
	case err != nil:
		return summary, err
	case o.json:
		return summary, page.JSON(env.stdout, summary)
	}
	return summary, report.Text(env.stdout, summary, files)
}
