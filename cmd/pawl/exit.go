package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"pawl/gate/report"
	"pawl/internal/git"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/studies/apply"
)

// The exit codes. Every command's help names the ones it uses.
const (
	exitOK          = 0
	exitNo          = 1   // the answer is no: a wrong result, a regression
	exitNothing     = 2   // there was nothing to say anything about
	exitMachinery   = 3   // something broke; nothing was learned
	exitUsage       = 64  // the command line was wrong
	exitInterrupted = 130 // stopped by the user
	// A crash of pawl itself ends with SIGABRT, which a shell shows as 134.
)

// crashByAbort makes a crash of this process look like one. Where Go gives up (out of
// memory, a panic, concurrent map writes, a deadlock), it would exit with 2, which
// here is an answer; so would a fatal signal. As no code of ours runs any more then,
// the runtime is set beforehand to end by SIGABRT instead. What little is left (the
// runtime exits with 2 where it cannot even begin) has written no report: see
// docs/gate.md for what a script may take for an answer.
func crashByAbort() {
	debug.SetTraceback("crash")
	// No core file: it would lie in the folder that is tuned. Where the limit cannot
	// be set there is one file too many, and nothing else is wrong.
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit)
	}
}

// answer is an exit code that is a result and not an error; what there is to
// say was said.
type answer int

func (a answer) Error() string { return fmt.Sprintf("exit %d", int(a)) }

// answered is the error of an exit code; 0 is none.
func answered(code int) error {
	if code == exitOK {
		return nil
	}
	return answer(code)
}

// gateCode is the exit code for the report of a gate: 0 says that no regression was
// shown. A report of a run that did not come to its end is no answer, whatever stands in
// it.
func gateCode(r *report.Report) int {
	switch {
	case !r.Finished():
		return exitMachinery
	case r.Failed():
		return exitNo
	case r.Decided():
		return exitOK
	}
	return exitNothing
}

// compareCode is the exit code for compared files: there 0 says that performance was
// shown to be kept or improved.
func compareCode(r *report.Report) int {
	switch {
	case r.Failed():
		return exitNo
	case r.Passed():
		return exitOK
	}
	return exitNothing
}

// usage marks an error as a mistake on the command line.
func usage(err error) error { return &devices.ArgumentError{Err: err} }

func usagef(format string, arguments ...any) error { return usage(fmt.Errorf(format, arguments...)) }

// nothing says why there was nothing to say anything about.
type nothing struct{ error }

func nothingf(format string, arguments ...any) error {
	return nothing{fmt.Errorf(format, arguments...)}
}

// unknown is the mistake of asking for something that there is not.
func unknown(what, name string, known []string) error {
	return &devices.ArgumentError{Err: fmt.Errorf("no %s %q; there are %s", what, name, strings.Join(known, ", ")), Name: name, Known: known}
}

// exitCode prints an error and returns its code. It is the only place that
// maps one to the other.
func exitCode(stderr io.Writer, err error) int {
	var result answer
	var argument *devices.ArgumentError
	var empty nothing
	var coder cli.ExitCoder
	var refusal *apply.Refusal
	var branch *git.BranchError
	var child *exec.ExitError // has an exit code too, which is no answer of ours
	code := exitMachinery
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &result):
		return int(result)
	case errors.As(err, &empty), errors.Is(err, objective.ErrNoProfiler):
		code = exitNothing
	case errors.As(err, &refusal) && refusal.Nothing:
		code = exitNothing
	case errors.As(err, &refusal), errors.As(err, &branch):
		code = exitNo
	case errors.As(err, &argument):
		code = exitUsage
		known := argument.Known
		if errors.As(err, new(*kernels.NotFoundError)) {
			known = append(kernelFolders(), known...) // those here may be meant too
		}
		if guess := closest(argument.Name, known); guess != "" {
			err = fmt.Errorf("%w; did you mean %s?", err, guess)
		}
	case errors.As(err, &coder) && !errors.As(err, &child):
		code = exitUsage
	}
	fmt.Fprintf(stderr, "pawl: %v\n", err)
	return code
}
