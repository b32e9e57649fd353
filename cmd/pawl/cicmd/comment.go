package cicmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/ci"
	"pawl/gate/reporting"
	"pawl/internal/escape"
)

func commentCommand(env console.Environment) *cli.Command {
	var o ci.Comment
	return &cli.Command{
		Name:  "comment",
		Usage: "tell a pull request what the gate found, in one comment and a check",
		Description: console.Details(
			"Creates pawl's comment on the pull request, or updates it in place; where nothing has changed and\n"+
				"there is none yet, it stays silent. Sets the check pawl of the commit: green, red, or neutral where\n"+
				"nothing was decided. Needs GITHUB_TOKEN with pull-requests: write and checks: write; with a token\n"+
				"that may only read, as in a pull request from a fork, it says so and succeeds.",
			"pawl ci comment --pull 12", "0 done, or nothing to tell", "3 GitHub or the report failed", "64 usage"),
		Flags: []cli.Flag{
			console.Text("report", &o.Report, filepath.Join("results", reporting.JSONName),
				"the gate's report, as JSON, in this `FILE`"),
			console.NumberOr("pull", &o.Pull, 1, "that of the event", "the `NUMBER` of the pull request"),
			console.Switch("skipped", &o.Skipped, "there was nothing to gate: an older comment says so"),
		},
		Action: console.Alone(func(ctx context.Context) error { return runCIComment(ctx, env, o) }),
	}
}

func runCIComment(ctx context.Context, env console.Environment, c ci.Comment) error {
	c.Job = ci.JobOf(env.Getenv)
	if c.Pull == 0 {
		var err error
		if c.Pull, err = c.Job.Pull(); err != nil {
			return err
		}
	}
	if c.Pull == 0 {
		fmt.Fprintln(env.Stdout, "no pull request caused this run: nothing to comment on")
		return nil
	}
	client, err := c.Job.Client(env.Notice)
	if err != nil {
		return err
	}
	ctx, done := env.Stoppable(ctx)
	defer done()
	said, err := c.Publish(ctx, client)
	checked, failed := c.Check(ctx, client)
	for _, sentence := range []string{said, checked} {
		if sentence != "" {
			fmt.Fprintln(env.Stdout, escape.Line(sentence))
		}
	}
	return errors.Join(err, failed)
}
