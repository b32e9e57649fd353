package cicmd

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/ci"
)

// matrixOptions are the flags of pawl ci matrix.
type matrixOptions struct {
	ci.Selection
	policy  string
	runners cli.StringSlice
}

func matrixCommand(env console.Environment) *cli.Command {
	var o matrixOptions
	return &cli.Command{
		Name:  "matrix",
		Usage: "list kernels, workloads and runners as the matrix of a job",
		Description: console.Details(
			"Prints one line of JSON with a job for every kernel and workload of the policy on every runner, and\n"+
				"sets the step's output matrix.",
			"pawl ci matrix --runner gpu --budget 20m", "0 done", "3 a manifest or the output failed", "64 usage"),
		Flags: []cli.Flag{
			console.PolicyFlag(&o.policy),
			&cli.StringSliceFlag{
				Name:        "runner",
				Destination: &o.runners,
				DefaultText: ci.HostedRunner,
				Usage:       "the `LABEL` of a runner; may be given again",
			},
			&cli.StringFlag{
				Name:        "kernel",
				Destination: &o.Kernel,
				Usage:       "only this `KERNEL`, as the policy names it",
			},
			&cli.StringFlag{
				Name:        "workload",
				Destination: &o.Workload,
				Usage:       "only this `WORKLOAD` of the kernel",
			},
			&cli.DurationFlag{
				Name:        "budget",
				Destination: &o.Budget,
				Action:      console.Positive("budget"),
				Usage:       "the `TIME` of all searches together; each job gets its share",
			},
		},
		Action: console.Alone(func(context.Context) error { return printMatrix(env, o) }),
	}
}

func printMatrix(env console.Environment, o matrixOptions) error {
	file, err := console.ReadPolicy(o.policy, nil)
	if err != nil {
		return err
	}
	o.Runners = o.runners.Value()
	jobs, err := ci.Matrix(file, o.Selection)
	if err != nil {
		return err
	}
	text, err := json.Marshal(jobs)
	if err != nil {
		return err
	}
	if err := ci.Output(env.Getenv("GITHUB_OUTPUT"), "matrix", string(text)); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s\n", text)
	return nil
}
