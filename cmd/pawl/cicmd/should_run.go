package cicmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/ci"
	"pawl/gate/ci/runner"
	"pawl/internal/escape"
)

// mostReasons is how many reasons are printed.
const mostReasons = 10

func shouldRunCommand(env console.Environment) *cli.Command {
	var q ci.Question
	return &cli.Command{
		Name:  "should-run",
		Usage: "say whether a change touches what a gated kernel depends on",
		Description: console.Details(
			"Prints true or false, and why to standard error; sets the step's outputs run, shards and matrix, with a\n"+
				"job for each of the policy's shards. What counts: manifests,\n"+
				"sources and all that they include, references, policy, baseline, workflows, "+runner.FileName+
				", and in pawl's own\n"+
				"repository pawl. Only commits are looked at. In doubt it is true.",
			"pawl ci should-run --base origin/main", "0 always; read the output", "3 the output could not be written",
			"64 usage"),
		Flags: []cli.Flag{
			console.PolicyFlag(&q.Policy), console.BaselineFlag(&q.Baseline),
			console.TextOr("base", &q.Base, "that of the pull request or push", "the `COMMIT` that the change began from"),
		},
		Action: console.Alone(func(ctx context.Context) error {
			q.Policy, q.Runner = console.PolicyPath(q.Policy), runner.FileName
			q.Push = env.Getenv("GITHUB_EVENT_NAME") == "push"
			q.Target, q.Event = env.Getenv("GITHUB_BASE_REF"), env.Getenv("GITHUB_EVENT_PATH")
			return printShouldRun(ctx, env, q)
		}),
	}
}

func printShouldRun(ctx context.Context, env console.Environment, q ci.Question) error {
	found := ci.ShouldRun(ctx, q)
	for i, why := range found.Why {
		if i == mostReasons {
			env.Notice(fmt.Sprintf("and %d more", len(found.Why)-i))
			break
		}
		env.Notice(escape.Line(why))
	}
	jobs, matrix := ci.Shards(q.Policy)
	output := env.Getenv("GITHUB_OUTPUT")
	if err := errors.Join(ci.Output(output, "run", strconv.FormatBool(found.Run)),
		ci.Output(output, "shards", strconv.Itoa(jobs)), ci.Output(output, "matrix", matrix)); err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout, found.Run)
	return nil
}
