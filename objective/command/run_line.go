package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"pawl/internal/process"
	"pawl/objective/worker"
)

const (
	// mostOutput is how much of what a command prints is kept, of standard output and of
	// standard error, in bytes. The rest is read and thrown away.
	mostOutput = 1 << 20
	// flood is how much is more than anyone could want.
	flood = 1 << 30
)

// Line is a command line that no shell sees.
type Line struct {
	// Name is what it is called; empty stands for its arguments.
	Name string
	process.Command
}

// Execution is how a program ended that ran to its end, whatever its exit status.
type Execution struct {
	// Wall is the time from its start to its end, User and System that of the processor,
	// for it and the processes that it has waited for.
	Wall, User, System time.Duration
	Status             int
	// Stdout and Stderr are the beginning of what it printed. Cut says that standard output
	// was longer.
	Stdout, Stderr []byte
	Cut            bool
}

// Explain says how a program failed, with the line that says most of what it printed.
func (e Execution) Explain() string {
	fault := worker.Fault{Detail: fmt.Sprintf("exit status %d", e.Status), Output: string(e.Stderr)}
	if len(bytes.TrimSpace(e.Stderr)) == 0 {
		fault.Output = string(e.Stdout)
	}
	return fault.Explanation()
}

// Run runs a command line. A fault says that the program did not come to an end by itself,
// or could not be started; an error that nothing was learned about it. Nothing that it starts
// goes on beside the next one.
func (l Line) Run(ctx context.Context) (Execution, *worker.Fault, error) {
	stdout := &process.Output{Keep: mostOutput, Flood: flood}
	stderr := &process.Output{Keep: mostOutput, Flood: flood}
	l.Contained, l.Stdout, l.Stderr = true, stdout, stderr
	p, err := process.Run(ctx, l.Command)
	fault := func(kind worker.FaultKind, detail string) (Execution, *worker.Fault, error) {
		return Execution{}, &worker.Fault{Kind: kind, Detail: detail, Output: stderr.String()}, nil
	}
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return Execution{}, nil, context.Cause(ctx)
	case errors.Is(err, process.ErrTime):
		return fault(worker.Hung, fmt.Sprintf("no end within %s", l.Allowed))
	case errors.Is(err, process.ErrFlood):
		return fault(worker.Flooded, "more than 1 GiB")
	case errors.Is(err, process.ErrUnkillable):
		return fault(worker.Unkillable, "it did not end within 5 s of being killed")
	case ended && !exit.Exited():
		_, crashed, _ := fault(worker.Crashed, exit.Sys().(syscall.WaitStatus).Signal().String())
		if crashed.Outside = p.Killed("the program", l.Memory); crashed.Outside != nil {
			crashed.Outside.Err = crashed // it may have killed itself
		}
		return Execution{}, crashed, nil
	case err == nil || ended:
		return Execution{
			Wall: p.Wall, User: p.State.UserTime(), System: p.State.SystemTime(), Status: p.State.ExitCode(),
			Stdout: []byte(stdout.String()), Stderr: []byte(stderr.String()), Cut: stdout.Cut(),
		}, nil, nil
	case p != nil, errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EMFILE):
		return Execution{}, nil, err
	}
	return fault(CannotStart, err.Error())
}

// CannotStart is the kind of fault of a program that is not there, or is none.
const CannotStart worker.FaultKind = "cannot be started"
