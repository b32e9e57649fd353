package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/gate/ci"
	"pawl/internal/escape"
	"pawl/internal/page"
)

func ciBaselineCommand(env environment) *cli.Command {
	p := ci.Publication{}
	return &cli.Command{
		Name:  "baseline",
		Usage: "commit the baseline and its history on the main branch, and push",
		Description: details(
			"Commits what a gate run has moved, and nothing else of the checkout, on top of the remote's\n"+
				"branch, and pushes it. Where that has moved meanwhile, entries and history are merged and it is tried\n"+
				"again. The remote is asked afterwards whether it has the commit. GITHUB_TOKEN is used where it is set.",
			"pawl ci baseline --branch main",
			"0 the branch has it, or nothing had moved", "3 it could not be done", "64 usage", "130 stopped"),
		Flags: []cli.Flag{
			baselineFlag(&p.Baseline),
			&cli.StringFlag{Name: "branch", Value: "main", Destination: &p.Branch, Usage: "the `NAME` of the branch of origin that holds the baseline"},
		},
		Action: action(func(ctx context.Context, arguments []string) error {
			if len(arguments) > 0 {
				return usagef("no arguments are expected, got %q", arguments)
			}
			p.Server, p.Token = env.getenv("GITHUB_SERVER_URL"), env.getenv("GITHUB_TOKEN")
			p.Say = func(text string) { env.notice(escape.Line(text)) }
			return publishBaseline(ctx, env, p)
		}),
	}
}

func publishBaseline(ctx context.Context, env environment, p ci.Publication) error {
	ctx, done := stoppable(ctx, env)
	defer done()
	published, err := p.Run(ctx)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(env.stderr, "stopped; run it again to be sure that the branch has the baseline")
		return answer(exitInterrupted)
	case err != nil:
		return err
	case published.Commit == "":
		fmt.Fprintf(env.stdout, "nothing to publish: %s has this baseline and its history\n", escape.Line(p.Branch))
		return nil
	}
	for _, m := range published.Moved {
		fmt.Fprintln(env.stdout, m)
	}
	for _, sentence := range published.Chosen {
		fmt.Fprintln(env.stdout, escape.Line(sentence))
	}
	fmt.Fprintf(env.stdout, "%s has commit %.12s (%s moved, %s of history)\n", escape.Line(p.Branch), published.Commit, page.Count(len(published.Moved), "entry", "entries"), page.Count(published.Events, "line"))
	return nil
}
