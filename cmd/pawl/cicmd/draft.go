package cicmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/ci"
	"pawl/gate/ci/runner"
	"pawl/internal/escape"
	"pawl/internal/page"
)

type draftOptions struct {
	console.Common
	base string
}

func draftCommand(env console.Environment) *cli.Command {
	o := draftOptions{Common: console.In(env)}
	return &cli.Command{
		Name:  "draft",
		Usage: "open or update one draft pull request per kernel with its winner",
		Description: console.Details(
			"For each kernel whose studies suggest a change, commits the winner as the manifest's defaults on a\n"+
				"branch of its own and opens a draft, or updates the one that is there. A branch whose last commit\n"+
				"is a person's stays as it is. Needs GITHUB_TOKEN with contents: write and pull-requests: write.",
			"pawl ci draft --out tuning", "0 done, or nothing to propose", "2 there are no studies",
			"3 git or GitHub failed", "64 usage"),
		Flags: append(o.Flags("out", "db", "json"),
			console.TextOr("into", &o.base, "the branch of the run, or main", "the `BRANCH` to merge into")),
		Action: console.Alone(o.runCIDraft),
	}
}

func (o *draftOptions) runCIDraft(ctx context.Context) error {
	job := ci.JobOf(o.Getenv)
	client, err := job.Client(o.Notice)
	if err != nil {
		return err
	}
	store, err := o.OpenStudies(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, done := o.Stoppable(ctx)
	defer done()
	drafts, err := ci.Drafts{
		Out: o.Out, Base: cmp.Or(o.base, job.Branch, "main"), Folder: ".", Job: job,
		Machine: runner.FromEnvironment(o.Getenv, o.Notice),
		Say:     func(sentence string) { fmt.Fprintln(o.Stderr, escape.Line(sentence)) },
	}.Publish(ctx, client, ci.Winners{Store: store})
	if o.JSON {
		err = errors.Join(err, page.JSON(o.Stdout, "pawl ci draft", 1, page.List("drafts", drafts)))
	}
	return err
}
