package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/objective"
	"pawl/space"
)

func fuzzCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:      "fuzz",
		Usage:     "check a point's results against the reference",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: details(
			"Runs every shape of the manifest's fuzz matrix at one point, with guard pages round the buffers\n"+
				"and poisoned outputs, and compares with the reference.",
			"pawl fuzz attention --at BLOCK_M=96,VECTOR=8",
			"0 all results right", "1 wrong results", "2 nothing to test", "3 the machinery or the oracle failed", "64 usage"),
		Flags:  []cli.Flag{atFlag, workloadFlag, backendFlag, seedFlag, cacheFlag, jsonFlag, timeoutFlag, compileFlag},
		Action: func(c *cli.Context) error { return fuzz(c, env) },
	}
}

// fuzzReport is what the command prints.
type fuzzReport struct {
	Kernel  string             `json:"kernel"`
	Point   space.Point        `json:"point"`
	Cases   int                `json:"cases"`
	Failure *objective.Failure `json:"failure,omitempty"`
}

func fuzz(c *cli.Context, env environment) error {
	t, err := openTarget(c)
	if err != nil {
		return err
	}
	point, err := t.point(c)
	if err != nil {
		return err
	}
	matrix := objective.Matrix(t.kernel, t.workload)
	if len(t.kernel.Fuzz) == 0 {
		fmt.Fprintf(env.stderr, "pawl: the manifest of %s has no fuzz matrix: nothing to test\n", t.kernel.Name)
		return answer(exitNothing)
	}
	b, err := t.openBench(c.Context, c, env)
	if err != nil {
		return err
	}
	defer b.close()
	prepared, err := b.evaluator.Prepare(c.Context, point)
	if err != nil {
		return err
	}
	result := fuzzReport{Kernel: t.kernel.Name, Point: point, Cases: len(matrix)}
	if result.Failure, err = b.evaluator.Verify(c.Context, prepared); err != nil {
		return err
	}
	if c.Bool("json") {
		if err := printJSON(env, result); err != nil {
			return err
		}
	} else if result.Failure == nil {
		fmt.Fprintf(env.stdout, "%s at %s: all %d cases right\n", result.Kernel, point, result.Cases)
	} else {
		fmt.Fprintf(env.stdout, "%s at %s: %s\n", result.Kernel, point, result.Failure)
	}
	switch {
	case result.Failure == nil:
		return nil
	case result.Failure.Stage == objective.Preflight:
		return answer(exitNothing)
	}
	return answer(exitNo)
}
