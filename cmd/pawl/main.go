// Command pawl tunes kernels: it searches their parameters, checks every
// result, measures with confidence intervals, remembers everything, and
// suggests what a person may apply.
//
// This package only parses the command line, wires the commands together and maps
// errors to exit codes. The commands are in the packages below, one file each.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"pawl/cmd/pawl/console"
	"pawl/objective/devices"
)

func main() { start(outside()) }

// outside is the world as the process finds it.
func outside() console.Environment {
	return console.Environment{
		Stdin:   os.Stdin,
		Stdout:  &console.Output{File: os.Stdout},
		Stderr:  &console.Output{File: os.Stderr},
		Getenv:  os.Getenv,
		Signals: console.Interrupts,
	}
}

// start is the whole life of a process.
func start(env console.Environment) {
	devices.Serve()
	crashByAbort()
	if err := enoughMemory(); err != nil {
		os.Exit(exitCode(env.Stderr, err))
	}
	os.Exit(complain(env, run(context.Background(), os.Args, env)))
}

// complain turns success into an error where standard output could not be written, as on a full disk: whoever
// reads it has not got the answer.
func complain(env console.Environment, code int) int {
	out, ok := env.Stdout.(*console.Output)
	if !ok || out.Err() == nil || code == console.ExitMachinery {
		return code
	}
	return exitCode(env.Stderr, fmt.Errorf("writing standard output: %w", out.Err()))
}

// run is the program as a function: it returns the exit code.
func run(ctx context.Context, arguments []string, env console.Environment) int {
	arguments, env.Command = behindDashes(arguments)
	app := newApp(env)
	if slices.Contains(arguments, completionFlag) {
		complete(app, arguments, env.Stdout)
		return console.ExitOK
	}
	if asked, err := showHelp(env.Stdout, app, arguments); asked {
		return exitCode(env.Stderr, err)
	}
	reordered, err := flagsFirst(app, arguments)
	if err == nil {
		err = app.RunContext(ctx, reordered)
	}
	return exitCode(env.Stderr, err)
}
