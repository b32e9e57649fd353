package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/cicmd"
	"pawl/cmd/pawl/console"
	"pawl/cmd/pawl/farmcmd"
	"pawl/cmd/pawl/gatecmd"
	"pawl/cmd/pawl/kernelcmd"
	"pawl/cmd/pawl/studycmd"
	"pawl/internal/collect"
)

// exitCodesHelp closes the help of the program.
const exitCodesHelp = `Exit codes:
  0    done; for a check, the answer is yes
  1    the answer is no: wrong results, a regression
  2    nothing to test, no point passed, or no difference was shown
  3    internal or environment error: no compiler, a full disk, a broken database
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
		HideHelpCommand: true,
		// A point has commas in it; a flag that may be given again is given again.
		DisableSliceFlagSeparator: true,
		// Errors are printed in one place, with their exit code.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   func(_ *cli.Context, err error, _ bool) error { return console.Usage(err) },
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				helpOfApp(env.Stdout, c.App)
				return nil
			}
			return unknownCommand(c.App.Commands, c.Args().First())
		},
	}
	for _, group := range []struct {
		name     string
		commands []*cli.Command
	}{
		{console.Everyday, []*cli.Command{kernelcmd.InitCommand(env), kernelcmd.CheckCommand(env), studycmd.TuneCommand(env),
			kernelcmd.BenchCommand(env), gatecmd.Command(env), studycmd.ApplyCommand(env), studycmd.ServeCommand(env)}},
		{"More", []*cli.Command{kernelcmd.FuzzCommand(env), kernelcmd.BuildCommand(env), kernelcmd.ProfileCommand(env),
			kernelcmd.SpaceCommand(env), kernelcmd.ImportCommand(env), studycmd.AskCommand(env), studycmd.Command(env),
			studycmd.ReportCommand(env), studycmd.DispatchCommand(env), studycmd.SimulateCommand(env),
			gatecmd.RivalsCommand(env), gatecmd.CompareCommand(env),
			kernelcmd.DoctorCommand(env), completionCommand(env)}},
		{"CI and farm", []*cli.Command{gatecmd.BaselineCommand(env), cicmd.Command(env), farmcmd.Command(env)}},
	} {
		for _, c := range group.commands {
			c.Category = group.name
			prepare(c)
		}
		app.Commands = append(app.Commands, group.commands...)
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
				helpOf(ctx.App.Writer, strings.Fields(ctx.Command.HelpName)[1:], ctx.Command, false)
				return nil
			}
			return unknownCommand(ctx.Command.Subcommands, ctx.Args().First())
		}
	}
}

func unknownCommand(commands []*cli.Command, name string) error {
	return console.Unknown("command", name, collect.Each(commands, func(c *cli.Command) string { return c.Name }))
}
