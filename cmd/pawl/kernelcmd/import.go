package kernelcmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/kernels/importer"
)

type importOptions struct {
	console.Common
	kernel importer.KernelTuner
}

func ImportCommand(env console.Environment) *cli.Command {
	o := importOptions{Common: console.In(env)}
	to := console.TextOr("to", &o.kernel.Folder, "the kernel's name", "the new `FOLDER` for the kernel")
	asJSON := o.Flags("json")[0]
	return &cli.Command{
		Name:  "import",
		Usage: "convert a kernel from another tuner",
		Subcommands: []*cli.Command{
			{
				Name: "kernel-tuner", Usage: "from a script for Kernel Tuner", ArgsUsage: "SCRIPT.py [ARGUMENTS...]",
				Description: console.Details(
					"Runs the script with your own Python, in its folder, with a module that stands in for kernel_tuner:\n"+
						"it records what tune_kernel and run_kernel are given, and launches nothing. Writes a kernel's folder\n"+
						"with the arrays and answers as .npy. Anything not converted exactly (a function that is not plain\n"+
						"arithmetic, an observer) is listed, and marked by a comment in the manifest.",
					"pawl import kernel-tuner convolution.py -- 4096",
					"0 done", "1 the script failed, or asks for what pawl does not have", "3 internal or environment error",
					"64 usage"),
				Flags: []cli.Flag{to, asJSON,
					console.TextOr("interpreter", &o.kernel.Python, "what PYTHON names, python3 or python",
						"the `PROGRAM` that runs the script"),
					console.NumberOr("call", &o.kernel.Call, 1, "the only one",
						"which `NUMBER` of several calls of tune_kernel is meant")},
				Action: console.Action(func(ctx context.Context, arguments []string) error {
					if len(arguments) == 0 {
						return console.Usagef("the script is missing: pawl import kernel-tuner SCRIPT.py")
					}
					ctx, done := o.Stoppable(ctx)
					defer done()
					k := o.kernel
					k.Script, k.Arguments, k.Getenv, k.Output = arguments[0], arguments[1:], o.Getenv, o.Stderr
					return o.report(k.Run(ctx))
				}),
			},
			{
				Name: "t1", Usage: "from a file in the community's T1 format", ArgsUsage: "FILE.json",
				Description: console.Details(
					"Reads the description of a tuning problem in JSON, and the kernel's source from beside it. Anything\n"+
						"not converted is listed, and marked by a comment in the manifest.",
					"pawl import t1 gemm.json --to gemm",
					"0 done", "1 the file is wrong, or asks for what pawl does not have", "3 internal or environment error",
					"64 usage"),
				Flags: []cli.Flag{to, asJSON},
				Action: console.Action(func(_ context.Context, arguments []string) error {
					if len(arguments) != 1 {
						return console.Usagef("one file is needed: pawl import t1 FILE.json")
					}
					return o.report(importer.T1(arguments[0], o.kernel.Folder))
				}),
			},
		},
	}
}

// report prints what came of an import.
func (o *importOptions) report(made *importer.Folder, err error) error {
	if errors.As(err, new(*importer.MistakeError)) {
		fmt.Fprintf(o.Stderr, "pawl: %s\n", escape.Line(err.Error()))
		return console.Answer(console.ExitNo)
	}
	if err != nil {
		return err
	}
	return o.Show("pawl import", 1, made, func(w io.Writer) { printImported(w, made) })
}

func printImported(w io.Writer, made *importer.Folder) {
	for _, path := range made.Files {
		fmt.Fprintf(w, "wrote %s\n", escape.Line(path))
	}
	for _, note := range made.Notes {
		fmt.Fprintf(w, "note: %s\n", escape.Line(note))
	}
	for _, gap := range made.Gaps {
		fmt.Fprintf(w, "gap: %s\n", escape.Line(gap))
	}
	checkNext(w, made.Path)
}
