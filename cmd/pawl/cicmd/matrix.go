package cicmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/ci"
)

func matrixCommand(env console.Environment) *cli.Command {
	var o ci.Selection
	var policy string
	return &cli.Command{
		Name:  "matrix",
		Usage: "list kernels and workloads as the matrix of a job",
		Description: console.Details(
			"Prints one line of JSON with a job for every kernel and workload of the policy, and\n"+
				"sets the step's outputs matrix and shards, how many run at once.",
			"pawl ci matrix --runner gpu --budget 20m", "0 done", "3 a manifest or the output failed", "64 usage"),
		Flags: []cli.Flag{
			console.PolicyFlag(&policy),
			console.TextOr("runner", &o.Runner, ci.HostedRunner, "the `LABEL` of the runner"),
			console.Text("kernel", &o.Kernel, "", "only this `KERNEL`, as the policy names it"),
			console.Text("workload", &o.Workload, "", "only this `WORKLOAD` of the kernel"),
			console.Time("budget", &o.Budget, 0, "the `TIME` of all searches together; each job gets its share"),
		},
		Action: console.Alone(func(context.Context) error { return printMatrix(env, o, policy) }),
	}
}

func printMatrix(env console.Environment, o ci.Selection, policy string) error {
	file, err := console.ReadPolicy(policy, nil)
	if err != nil {
		return err
	}
	jobs, err := ci.Matrix(file, o)
	if err != nil {
		return err
	}
	text, err := json.Marshal(jobs)
	if err != nil {
		return err
	}
	output := env.Getenv("GITHUB_OUTPUT")
	if err := errors.Join(ci.Output(output, "matrix", string(text)),
		ci.Output(output, "shards", strconv.Itoa(file.Jobs()))); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s\n", text)
	return nil
}
