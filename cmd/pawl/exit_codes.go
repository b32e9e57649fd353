package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/git"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/studies/apply"
)

// exitCode prints an error and returns its code. It is the only place that
// maps one to the other.
func exitCode(stderr io.Writer, err error) int {
	var result console.Answer
	var argument *devices.ArgumentError
	var refusal *apply.Refusal
	var child *exec.ExitError // has an exit code too, which is no answer of ours
	code := console.ExitMachinery
	switch {
	case err == nil:
		return console.ExitOK
	case errors.As(err, &result):
		return int(result)
	case errors.As(err, new(console.Nothing)), errors.Is(err, objective.ErrNoProfiler):
		code = console.ExitNothing
	case errors.As(err, &refusal) && refusal.Nothing:
		code = console.ExitNothing
	case errors.As(err, &refusal), errors.As(err, new(*git.BranchError)):
		code = console.ExitNo
	case errors.As(err, &argument):
		code = console.ExitUsage
		known := argument.Known
		if errors.As(err, new(*kernels.NotFoundError)) {
			known = append(kernelFolders(), known...) // those here may be meant too
		}
		if guess := closest(argument.Name, known); guess != "" {
			err = fmt.Errorf("%w; did you mean %s?", err, guess)
		}
	case errors.As(err, new(cli.ExitCoder)) && !errors.As(err, &child):
		code = console.ExitUsage
	}
	fmt.Fprintf(stderr, "pawl: %v\n", err)
	return code
}
