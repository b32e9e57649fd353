package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"
)

// The exit codes. Every command's help names the ones it uses.
const (
	exitOK          = 0
	exitNo          = 1   // the answer is no: a wrong result, a regression
	exitNothing     = 2   // there was nothing to say anything about
	exitMachinery   = 3   // something broke; nothing was learned
	exitUsage       = 64  // the command line was wrong
	exitInterrupted = 130 // stopped by the user
)

// answer is an exit code that is a result and not an error; what there is to
// say was said.
type answer int

func (a answer) Error() string { return fmt.Sprintf("exit %d", int(a)) }

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, arguments ...any) error {
	return usageError{fmt.Errorf(format, arguments...)}
}

// exitCode prints an error and returns its code. It is the only place that
// maps one to the other.
func exitCode(stderr io.Writer, err error) int {
	var result answer
	var usage usageError
	var coder cli.ExitCoder
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &result):
		return int(result)
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "pawl: %v\n", err)
		return exitUsage
	case errors.As(err, &coder):
		fmt.Fprintf(stderr, "pawl: %v\n", err)
		return exitUsage
	}
	fmt.Fprintf(stderr, "pawl: %v\n", err)
	return exitMachinery
}
