package cicmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/ci"
	"pawl/gate/ci/runner"
)

func summaryCommand(env console.Environment) *cli.Command {
	var report string
	return &cli.Command{
		Name:  "summary",
		Usage: "show a report on the page of the run",
		Description: console.Details(
			"Appends the gate's report or the suggestions of a search to the file that $GITHUB_STEP_SUMMARY\n"+
				"names, or prints it where there is none. pawl gate does so by itself.",
			"pawl ci summary --report tuning/suggestions.md", "0 done", "2 there is no report",
			"3 it cannot be read or written", "64 usage"),
		Flags: []cli.Flag{
			&cli.StringFlag{
				Name:        "report",
				Destination: &report,
				DefaultText: "the gate's, or tuning/suggestions.md",
				Usage:       "the gate's JSON, or a page that pawl wrote, in this `FILE`",
			},
		},
		Action: console.Alone(func(context.Context) error {
			path, err := ci.Summary{
				Report: report,
				Job:    ci.JobOf(env.Getenv),
				Cost:   runner.FromEnvironment(env.Getenv, env.Notice).Cost(time.Now()),
			}.Publish(env.Stdout)
			if errors.Is(err, fs.ErrNotExist) {
				return console.Nothingf("%w", err)
			}
			if err == nil {
				fmt.Fprintf(env.Stderr, "pawl: summed up %s\n", path)
			}
			return err
		}),
	}
}
