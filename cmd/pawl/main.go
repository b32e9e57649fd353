// Command pawl tunes kernels: it searches their parameters, checks every
// result, measures with confidence intervals, remembers everything, and
// suggests what a person may apply.
//
// This package only parses the command line, wires the packages together and
// maps errors to exit codes. One file per command.
package main

import (
	"context"
	"io"
	"os"
	"slices"

	"pawl/objective/devices"
)

func main() {
	start(environment{stdout: &output{file: os.Stdout}, stderr: &output{file: os.Stderr}, getenv: os.Getenv, signals: interrupts})
}

// start is the whole life of a process.
func start(env environment) {
	devices.Serve()
	crashByAbort()
	os.Exit(run(context.Background(), os.Args, env))
}

// environment is the world outside: everything that a test may want to change.
type environment struct {
	stdout, stderr io.Writer
	getenv         func(string) string
	// command is what stands behind -- of pawl bench; nil where there is none.
	command []string
	// signals delivers a person's requests to stop.
	signals func() (<-chan os.Signal, func())
}

// run is the program as a function: it returns the exit code.
func run(ctx context.Context, arguments []string, env environment) int {
	arguments, env.command = behindDashes(arguments)
	app := newApp(env)
	if slices.Contains(arguments, completionFlag) {
		complete(ctx, app, arguments, env.stdout)
		return exitOK
	}
	reordered, err := flagsFirst(app, arguments)
	if err == nil {
		err = app.RunContext(ctx, reordered)
	}
	return exitCode(env.stderr, err)
}
