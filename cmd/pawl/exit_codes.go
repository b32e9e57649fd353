package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime/debug"
	"syscall"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/git"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/studies"
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
	case errors.As(err, new(*devices.NothingError)), errors.Is(err, objective.ErrNoProfiler):
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
	case errors.Is(err, studies.ErrNoStudy), errors.As(err, new(cli.ExitCoder)) && !errors.As(err, &child):
		code = console.ExitUsage
	}
	fmt.Fprintf(stderr, "pawl: %v\n", err)
	return code
}

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
