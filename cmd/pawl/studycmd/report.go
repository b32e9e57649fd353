package studycmd

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/studies"
	"pawl/studies/report"
)

type reportOptions struct {
	console.Common
	every bool
}

func ReportCommand(env console.Environment) *cli.Command {
	o := reportOptions{Common: console.In(env)}
	return &cli.Command{
		Name:      "report",
		Usage:     "write a study's report again",
		ArgsUsage: "[STUDY]",
		Description: console.Details(
			"Writes a study's "+report.MarkdownName+", "+report.JSONName+" and "+report.HTMLName+
				" from the record, and the index of all\n"+
				"studies. By default it is the last study. The folder KERNEL/WORKLOAD has the newest confirmed study of\n"+
				"the sources that were tuned last; other studies are in KERNEL/WORKLOAD/study-N.\n"+
				"--all writes the pages of all studies.",
			"pawl report 3 --out tuning",
			"0 done", "2 no studies", "3 internal or environment error", "64 usage"),
		Flags: append(o.Flags("out", "db", "json"),
			console.Switch("all", &o.every, "write the pages of every study")),
		Action: console.Action(o.run),
	}
}

func (o *reportOptions) run(ctx context.Context, arguments []string) error {
	if o.every {
		return o.reportAll(ctx, arguments)
	}
	store, study, err := o.OpenStudy(ctx, arguments)
	if err != nil {
		return err
	}
	defer store.Close()
	_, err = concludeStudy(ctx, &o.Common, store, study.ID)
	return err
}

func (o *reportOptions) reportAll(ctx context.Context, arguments []string) error {
	if len(arguments) > 0 || o.JSON {
		return console.Usagef("--all takes no study and prints no JSON")
	}
	store, err := o.OpenStudies(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	files, err := report.PublishAll(ctx, store, o.Out)
	for _, path := range files.Written {
		fmt.Fprintf(o.Stdout, "wrote %s\n", path)
	}
	return err
}

// concludeStudy writes the pages of a study and the index, and prints the result.
func concludeStudy(ctx context.Context, o *console.Common, store *studies.Store,
	study int64) (*report.Summary, error) {
	summary, files, err := report.Publish(ctx, store, o.Out, study)
	if err == nil {
		err = o.Print(summary.JSON, func(w io.Writer) { report.Text(w, summary, files) })
	}
	return summary, err
}
