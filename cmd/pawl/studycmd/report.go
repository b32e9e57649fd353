package studycmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/studies"
	"pawl/studies/report"
)

func ReportCommand(env console.Environment) *cli.Command {
	var o console.Common
	var every bool
	return &cli.Command{
		Name:      "report",
		Usage:     "write a study's report again",
		ArgsUsage: "[STUDY]",
		Description: console.Details(
			"Writes a study's "+report.MarkdownName+", "+report.JSONName+" and "+report.HTMLName+
				" from the record, and the index of all\n"+
				"studies; the last study when none is named. The newest confirmed study of a kernel and workload, of\n"+
				"the sources that were tuned last, has the folder KERNEL/WORKLOAD, another KERNEL/WORKLOAD/study-N.\n"+
				"--all writes the pages of all studies.",
			"pawl report 3 --out tuning",
			"0 done", "2 no studies", "3 internal or environment error", "64 usage"),
		Flags: append(o.Flags("out", "db", "json"),
			console.Switch("all", &every, "write the pages of every study")),
		Action: console.Action(func(ctx context.Context, arguments []string) error {
			if every {
				return reportAll(ctx, env, o, arguments)
			}
			store, study, err := console.OpenStudy(ctx, env, o, arguments)
			if err != nil {
				return err
			}
			defer store.Close()
			_, err = concludeStudy(ctx, env, o, store, study.ID)
			return err
		}),
	}
}

func reportAll(ctx context.Context, env console.Environment, o console.Common, arguments []string) error {
	if len(arguments) > 0 || o.JSON {
		return console.Usagef("--all takes no study and prints no JSON")
	}
	store, err := console.OpenStudies(ctx, env, o)
	if err != nil {
		return err
	}
	defer store.Close()
	files, err := report.PublishAll(ctx, store, o.Out)
	for _, path := range files.Written {
		fmt.Fprintf(env.Stdout, "wrote %s\n", path)
	}
	return err
}

// concludeStudy writes the pages of a study and the index, and prints the result.
func concludeStudy(ctx context.Context, env console.Environment, o console.Common, store *studies.Store,
	study int64) (*report.Summary, error) {
	summary, files, err := report.Publish(ctx, store, o.Out, study)
	switch {
	case err != nil:
		return summary, err
	case o.JSON:
		return summary, summary.JSON(env.Stdout)
	}
	return summary, report.Text(env.Stdout, summary, files)
}
