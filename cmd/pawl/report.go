package main

import (
	"context"

	"github.com/urfave/cli/v2"

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
			"0 done", "2 no study", "3 the machinery failed", "64 usage"),
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
