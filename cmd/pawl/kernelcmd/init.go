package kernelcmd

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/kernels/scaffold"
	"pawl/objective/devices"
)

func InitCommand(env console.Environment) *cli.Command {
	var source scaffold.Source
	return &cli.Command{
		Name:      "init",
		Usage:     "write the folder of a new kernel, from a source if there is one",
		ArgsUsage: "FOLDER",
		Description: console.Details(
			"Writes a small working kernel to start from. With --from it describes a source: the arguments of\n"+
				"its function, and macros with a default as parameters. What it cannot know is marked in the\n"+
				"manifest. A folder that is not empty is left alone.",
			"pawl init transpose --from src/transpose.cu",
			"0 done", "3 the folder cannot be written, or the source not described", "64 usage"),
		Flags: []cli.Flag{
			console.Text("from", &source.File, "", "describe this source `FILE`, in C, C++, CUDA or Triton"),
			console.TextOr("entry", &source.Entry, "the only candidate", "the `FUNCTION` of the source to tune"),
			console.Text("call", &source.Call, "",
				"run `PROGRAM` up to its call of the Triton kernel, and describe what that was called with"),
			console.Switch("command", &source.Program, "start from a program that is built and run, instead of a function"),
		},
		Action: console.Action(func(ctx context.Context, arguments []string) error {
			if len(arguments) != 1 {
				return console.Usagef("init takes the folder of the new kernel")
			}
			if source.Program && source.File != "" {
				return console.Usagef("--command writes an example, and --from describes a source: one of them")
			}
			if name, entry, both := strings.Cut(source.File, "::"); both && source.Entry == "" {
				source.File, source.Entry = name, entry
			}
			if source.Call != "" && !strings.EqualFold(filepath.Ext(source.File), ".py") {
				return console.Usagef("--call records the call of a Triton kernel: name its file with --from")
			}
			source.Tiles = func(file, entry string) (scaffold.TileSource, error) {
				return devices.DescribeTiles(ctx, env.Getenv, file, entry, source.Call)
			}
			made, err := scaffold.Write(arguments[0], source)
			if err != nil {
				return err
			}
			for _, file := range made.Files {
				fmt.Fprintf(env.Stdout, "wrote %s\n", file.Name)
			}
			for _, open := range made.Open {
				fmt.Fprintf(env.Stdout, "look: %s\n", escape.Line(open))
			}
			checkNext(env.Stdout, arguments[0])
			return nil
		}),
	}
}

// checkNext says how a new kernel's folder is tried.
func checkNext(w io.Writer, folder string) {
	folder = filepath.Clean(folder)
	if filepath.IsLocal(folder) {
		folder = "./" + folder // an embedded kernel may have the same name
	}
	fmt.Fprintf(w, "\nNext: %s\n", escape.Shell("pawl", "check", folder))
}
