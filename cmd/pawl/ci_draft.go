package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"pawl/gate/ci/draft"
	"pawl/gate/ci/publish"
	"pawl/internal/escape"
	"pawl/internal/page"
)

// ciDraftOptions are the flags of pawl ci draft.
type ciDraftOptions struct {
	common
	prefix, base string
}

func ciDraftCommand(env environment) *cli.Command {
	var o ciDraftOptions
	return &cli.Command{
		Name:  "draft",
		Usage: "open or update one draft pull request per kernel with its winner",
		Description: details(
			"For each kernel whose studies suggest a change, commits the winner as the manifest's defaults on a\n"+
				"branch of its own and opens a draft, or updates the one that is there. A branch whose last commit\n"+
				"is a person's stays as it is. Needs GITHUB_TOKEN with contents: write and pull-requests: write.",
			"pawl ci draft --out tuning", "0 done, or nothing to propose", "2 there is no index of studies", "3 git or GitHub failed", "64 usage"),
		Flags: append(o.flags("out", "json"),
			&cli.StringFlag{Name: "branch-prefix", Value: "pawl/", Destination: &o.prefix, Usage: "what the `NAME` of each branch begins with"},
			&cli.StringFlag{Name: "base", Destination: &o.base, DefaultText: "the branch of the run, or main", Usage: "the `BRANCH` to merge into"}),
		Action: action(func(ctx context.Context, arguments []string) error {
			if len(arguments) > 0 {
				return usagef("pawl ci draft takes no arguments")
			}
			return runCIDraft(ctx, env, o)
		}),
	}
}

func runCIDraft(ctx context.Context, env environment, o ciDraftOptions) error {
	job := publish.JobOf(env.getenv)
	client, err := job.Client(env.notice)
	if err != nil {
		return err
	}
	store, err := openStudies(ctx, env, o.out)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, done := stoppable(ctx, env)
	defer done()
	drafts, err := publish.Drafts{
		Out: o.out, Prefix: o.prefix, Base: cmp.Or(o.base, job.Branch, "main"), Folder: ".", Job: job,
		Say: func(sentence string) { fmt.Fprintln(env.stderr, escape.Line(sentence)) },
	}.Publish(ctx, client, draft.Winners{Store: store})
	if errors.Is(err, fs.ErrNotExist) {
		return nothing{err}
	}
	if o.json {
		err = errors.Join(err, page.JSON(env.stdout, drafts))
	}
	return err
}
