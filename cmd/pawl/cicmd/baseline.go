package cicmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/ci"
	"pawl/internal/escape"
	"pawl/internal/page"
)

func baselineCommand(env console.Environment) *cli.Command {
	p, restore := ci.Publication{}, false
	return &cli.Command{
		Name:  "baseline",
		Usage: "commit the baseline and its history on a branch of their own, and push",
		Description: console.Details(
			"Commits what a gate run has moved, and nothing else of the checkout, on top of the remote's\n"+
				"branch, and pushes it. Where that has moved meanwhile, entries and history are merged and it is tried\n"+
				"again. The remote is asked afterwards whether it has the commit. GITHUB_TOKEN is used where it is set.\n\n"+
				"With --restore it puts what the branch has, as it was fetched last, into the checkout instead.",
			"pawl ci baseline --restore",
			"0 the branch has it, or nothing had moved", "3 it could not be done", "64 usage", "130 stopped"),
		Flags: []cli.Flag{
			console.BaselineFlag(&p.Baseline),
			console.Text("baseline-branch", &p.Branch, ci.BaselineBranch,
				"the `NAME` of the branch of origin that holds the baseline"),
			console.Switch("restore", &restore,
				"put the baseline of origin's "+ci.BaselineBranch+" here, and push nothing"),
		},
		Action: console.Alone(func(ctx context.Context) error {
			if restore {
				return restoreBaseline(ctx, env, p.Baseline)
			}
			p.Server, p.Token = env.Getenv("GITHUB_SERVER_URL"), env.Getenv("GITHUB_TOKEN")
			p.Say = func(text string) { env.Notice(escape.Line(text)) }
			return publishBaseline(ctx, env, p)
		}),
	}
}

func restoreBaseline(ctx context.Context, env console.Environment, file string) error {
	found, err := ci.Restore(ctx, file)
	switch {
	case err != nil:
		return err
	case found:
		fmt.Fprintf(env.Stdout, "restored %s from %s\n", escape.Line(file), ci.BaselineBranch)
	default:
		fmt.Fprintf(env.Stdout, "no branch %s is fetched: %s stays as it is\n", ci.BaselineBranch, escape.Line(file))
	}
	return nil
}

func publishBaseline(ctx context.Context, env console.Environment, p ci.Publication) error {
	ctx, done := env.Stoppable(ctx)
	defer done()
	published, err := p.Run(ctx)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(env.Stderr, "stopped; run it again to be sure that the branch has the baseline")
		return console.Answer(console.ExitInterrupted)
	case err != nil:
		return err
	case published.Commit == "":
		fmt.Fprintf(env.Stdout, "nothing to publish: %s has this baseline and its history\n", escape.Line(p.Branch))
		return nil
	}
	for _, m := range published.Moved {
		fmt.Fprintln(env.Stdout, m)
	}
	for _, sentence := range published.Chosen {
		fmt.Fprintln(env.Stdout, escape.Line(sentence))
	}
	fmt.Fprintf(env.Stdout, "%s has commit %.12s (%s moved, %s of history)\n", escape.Line(p.Branch), published.Commit,
		page.Count(len(published.Moved), "entry", "entries"), page.Count(published.Events, "line"))
	return nil
}
