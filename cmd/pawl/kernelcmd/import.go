package kernelcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/kernels/importer"
)

// importOptions are the flags of pawl import.
type importOptions struct {
	to, python string
	call       int
	json       bool
}

func ImportCommand(env console.Environment) *cli.Command {
	var o importOptions
	to := console.TextOr("to", &o.to, "the kernel's name", "the new `FOLDER` for the kernel")
	asJSON := console.Switch("json", &o.json, "print the result as JSON on standard output")
	return &cli.Command{
		Name:  "import",
		Usage: "convert a kernel from another tuner",
		Subcommands: []*cli.Command{
			{
				Name: "kernel-tuner", Usage: "from a script for Kernel Tuner", ArgsUsage: "SCRIPT.py [ARGUMENTS...]",
				Description: console.Details(
					"Runs the script with your own Python, in its folder, with a module that stands in for kernel_tuner:\n"+
						"it records what tune_kernel and run_kernel are given, and launches nothing. Writes a kernel's folder\n"+
						"with the arrays and answers as .npy. What cannot be carried over exactly (a function that is not plain\n"+
						"arithmetic, an observer) is a gap: it is listed, and has a comment in the manifest.",
					"pawl import kernel-tuner convolution.py -- 4096",
					"0 done", "1 the script failed, or asks for what pawl does not have", "3 internal or environment error",
					"64 usage"),
				Flags: []cli.Flag{to, asJSON,
					console.TextOr("interpreter", &o.python, "what PYTHON names, python3 or python",
						"the `PROGRAM` that runs the script"),
					console.NumberOr("call", &o.call, 1, "the only one", "which `NUMBER` of several calls of tune_kernel is meant")},
				Action: console.Action(func(ctx context.Context, arguments []string) error {
					if len(arguments) == 0 {
						return console.Usagef("the script is missing: pawl import kernel-tuner SCRIPT.py")
					}
					ctx, done := console.Stoppable(ctx, env)
					defer done()
					return o.report(env, func() (*importer.Folder, error) {
						return importer.KernelTuner{
							Script: arguments[0], Arguments: arguments[1:], Folder: o.to, Call: o.call, Python: o.python,
							Getenv: env.Getenv, Output: env.Stderr,
						}.Run(ctx)
					})
				}),
			},
			{
				Name: "t1", Usage: "from a file in the community's T1 format", ArgsUsage: "FILE.json",
				Description: console.Details(
					"Reads the description of a tuning problem in JSON, and the kernel's source from beside it. What has no\n"+
						"counterpart is a gap: it is listed, and has a comment in the manifest.",
					"pawl import t1 gemm.json --to gemm",
					"0 done", "1 the file is wrong, or asks for what pawl does not have", "3 internal or environment error",
					"64 usage"),
				Flags: []cli.Flag{to, asJSON},
				Action: console.Action(func(_ context.Context, arguments []string) error {
					if len(arguments) != 1 {
						return console.Usagef("one file is needed: pawl import t1 FILE.json")
					}
					return o.report(env, func() (*importer.Folder, error) { return importer.T1(arguments[0], o.to) })
				}),
			},
		},
	}
}

// report imports, and prints what came of it.
func (o *importOptions) report(env console.Environment, run func() (*importer.Folder, error)) error {
	made, err := run()
	if errors.As(err, new(*importer.MistakeError)) {
		fmt.Fprintf(env.Stderr, "pawl: %s\n", escape.Line(err.Error()))
		return console.Answer(console.ExitNo)
	}
	if err != nil {
		return err
	}
	if o.json {
		return page.JSON(env.Stdout, "pawl import", 1, made)
	}
	for _, path := range made.Files {
		fmt.Fprintf(env.Stdout, "wrote %s\n", escape.Line(path))
	}
	for _, note := range made.Notes {
		fmt.Fprintf(env.Stdout, "note: %s\n", escape.Line(note))
	}
	for _, gap := range made.Gaps {
		fmt.Fprintf(env.Stdout, "gap: %s\n", escape.Line(gap))
	}
	checkNext(env, made.Path)
	return nil
}
