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
		Flags:  []cli.Flag{atFlag, workloadFlag, backendFlag, compilerFlag, seedFlag, cacheFlag, jsonFlag, timeoutFlag, compileFlag},
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
	b, prepared, err := openPoint(c, env)
	if err != nil {
		return err
	}
	defer b.close()
	if len(b.kernel.Fuzz) == 0 {
		fmt.Fprintf(env.stderr, "pawl: the manifest of %s has no fuzz matrix: nothing to test\n", b.kernel.Name)
		return answer(exitNothing)
	}
	result := fuzzReport{Kernel: b.kernel.Name, Point: prepared.Point, Cases: len(objective.Matrix(b.kernel, b.workload))}
	if result.Failure, err = b.evaluator.Verify(c.Context, prepared); err != nil {
		return err
	}
	if c.Bool("json") {
		if err := printJSON(env, result); err != nil {
			return err
		}
	} else if result.Failure == nil {
		fmt.Fprintf(env.stdout, "%s at %s: all %d cases right\n", result.Kernel, result.Point, result.Cases)
	} else {
		fmt.Fprintf(env.stdout, "%s at %s: %s\n", result.Kernel, result.Point, result.Failure)
	}
	switch {
	case result.Failure == nil:
		return nil
	case result.Failure.Stage == objective.Preflight:
		return answer(exitNothing)
	}
	return answer(exitNo)
}
