package main

import (
	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/ci"
	"pawl/cmd/pawl/console"
	"pawl/cmd/pawl/farm"
	"pawl/cmd/pawl/gate"
	"pawl/cmd/pawl/kernel"
	"pawl/cmd/pawl/studies"
)

// exitCodesHelp closes the help of the program.
const exitCodesHelp = `EXIT CODES:
   0    done; for a check, the answer is yes
   1    the answer is no: wrong results, a regression
   2    nothing to test, no point passed, or no difference was shown
   3    pawl could not do its work: no compiler, a full disk, a broken database
   64   the command line was wrong
   130  stopped by Ctrl-C; a study can be resumed
   134  pawl itself crashed (SIGABRT); nothing was answered
`

// newApp describes the command line.
func newApp(env console.Environment) *cli.App {
	app := &cli.App{
		Name:    "pawl",
		Usage:   "tune kernels; let performance move one way only",
		Version: console.Version(),
		Writer:  env.Stdout, ErrWriter: env.Stderr,
		Commands: []*cli.Command{
			studies.TuneCommand(env), kernel.FuzzCommand(env), kernel.BenchCommand(env), kernel.BuildCommand(env),
			kernel.ProfileCommand(env), kernel.CheckCommand(env), kernel.InitCommand(env), kernel.ImportCommand(env),
			kernel.SpaceCommand(env),
			gate.Command(env), gate.CompareCommand(env), gate.BaselineCommand(env), ci.Command(env),
			studies.SimulateCommand(env), studies.Command(env), studies.ServeCommand(env), studies.ReportCommand(env),
			studies.ApplyCommand(env), studies.DispatchCommand(env), gate.RivalsCommand(env), kernel.DoctorCommand(env),
			farm.WorkerCommand(env), farm.Command(env), completionCommand(env),
		},
		HideHelpCommand: true,
		// A point has commas in it; a flag that may be given again is given again.
		DisableSliceFlagSeparator: true,
		// Errors are printed in one place, with their exit code.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   func(_ *cli.Context, err error, _ bool) error { return console.Usage(err) },
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return cli.ShowAppHelp(c)
			}
			return unknownCommand(c.App.Commands, c.Args().First())
		},
		CustomAppHelpTemplate: cli.AppHelpTemplate + "\n" + exitCodesHelp,
	}
	for _, c := range app.Commands {
		prepare(c)
	}
	return app
}

// prepare gives a command the program's way of handling mistakes.
func prepare(c *cli.Command) {
	c.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return usageError(c.Flags, err) }
	c.HideHelpCommand = true
	for _, sub := range c.Subcommands {
		prepare(sub)
	}
	if len(c.Subcommands) > 0 && c.Action == nil {
		c.Action = func(ctx *cli.Context) error {
			if ctx.NArg() == 0 {
				return cli.ShowSubcommandHelp(ctx)
			}
			return unknownCommand(ctx.Command.Subcommands, ctx.Args().First())
		}
	}
}

func unknownCommand(commands []*cli.Command, name string) error {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return console.Unknown("command", name, names)
}
