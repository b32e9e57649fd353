package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"
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
func newApp(env environment) *cli.App {
	app := &cli.App{
		Name:    "pawl",
		Usage:   "tune kernels; let performance move one way only",
		Version: version(),
		Writer:  env.stdout, ErrWriter: env.stderr,
		Commands: []*cli.Command{
			tuneCommand(env), fuzzCommand(env), benchCommand(env), buildCommand(env), profileCommand(env), checkCommand(env), initCommand(env), importCommand(env), spaceCommand(env),
			gateCommand(env), compareCommand(env), baselineCommand(env), ciCommand(env),
			simulateCommand(env), studiesCommand(env), serveCommand(env), reportCommand(env), applyCommand(env), dispatchCommand(env), rivalsCommand(env), doctorCommand(env), completionCommand(env),
		},
		HideHelpCommand: true,
		// A point has commas in it; a flag that may be given again is given again.
		DisableSliceFlagSeparator: true,
		// Errors are printed in one place, with their exit code.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   func(_ *cli.Context, err error, _ bool) error { return usage(err) },
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
	c.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return usage(err) }
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
	return unknown("command", name, names)
}

// details writes the part of a command's help below its flags: an example and
// its exit codes.
func details(text, example string, codes ...string) string {
	return fmt.Sprintf("%s\n\nExample:\n   %s\n\nExit codes: %s.", text, example, strings.Join(codes, ", "))
}

// version returns the program's version, with the commit and its date.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	words := []string{info.Main.Version}
	for _, s := range info.Settings { // revision, time and modified, in this order
		switch s.Key {
		case "vcs.revision":
			words = append(words, s.Value[:min(12, len(s.Value))])
		case "vcs.time":
			words = append(words, s.Value)
		case "vcs.modified":
			if s.Value == "true" {
				words = append(words, "with changes")
			}
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}
