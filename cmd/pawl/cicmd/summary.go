package cicmd

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/ci"
	"pawl/gate/ci/runner"
	"pawl/objective/devices"
)

func summaryCommand(env console.Environment) *cli.Command {
	var report string
	return &cli.Command{
		Name:  "summary",
		Usage: "show the suggestions of a search on the page of the run",
		Description: console.Details(
			"Appends them to the file that $GITHUB_STEP_SUMMARY names, or prints them where there is none. pawl gate\n"+
				"shows its report by itself.",
			"pawl ci summary --report tuning/suggestions.md", "0 done", "2 there is no page",
			"3 it cannot be read or written", "64 usage"),
		Flags: []cli.Flag{
			console.Text("report", &report, filepath.Join("tuning", "suggestions.md"),
				"a page that pawl wrote, in this `FILE`"),
		},
		Action: console.Alone(func(context.Context) error {
			err := ci.Summary{
				Report: report,
				Job:    ci.JobOf(env.Getenv),
				Cost:   runner.FromEnvironment(env.Getenv, env.Notice).Until(time.Now()),
			}.Publish(env.Stdout)
			if errors.Is(err, fs.ErrNotExist) {
				return devices.Nothingf("%w", err)
			}
			return err
		}),
	}
}
