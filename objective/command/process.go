package command

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"pawl/objective/worker"
	"pawl/objective/worker/process"
)

// tokenVariable marks every process that a command starts, so that none survives it.
const tokenVariable = "PAWL_COMMAND"

const (
	// mostOutput is how much of what a command prints is kept, of standard output and of
	// standard error, in bytes. The rest is read and thrown away.
	mostOutput = 1 << 20
	// flood is how much is more than anyone could want.
	flood = 1 << 30
	// killGrace is how long to wait for a killed process to be gone.
	killGrace = 5 * time.Second
)

// Line is a command line that no shell sees.
type Line struct {
	// Arguments are the program and what it is given.
	Arguments []string
	// Dir is the folder to run in; empty means this process's own.
	Dir string
	// Environment is all that the program sees.
	Environment []string
	// Input is what it reads; nil is nothing.
	Input []byte
	// Allowed is how long it may take.
	Allowed time.Duration
}

// Execution is how a program ended that ran to its end, whatever its exit status.
type Execution struct {
	// Wall is the time from its start to its end, User and System that of the processor,
	// for it and the processes that it has waited for.
	Wall, User, System time.Duration
	// Status is the exit status.
	Status int
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
// or could not be started; an error that nothing was learned about it.
//
// It has a process group of its own, which is killed when its time is over and when it has
// ended, so that nothing it starts goes on beside the next one.
func (l Line) Run(ctx context.Context) (Execution, *worker.Fault, error) {
	var e Execution
	if err := ctx.Err(); err != nil {
		return e, nil, context.Cause(ctx)
	}
	token := tokenVariable + "=" + rand.Text()
	cmd := exec.Command(l.Arguments[0], l.Arguments[1:]...)
	cmd.Dir, cmd.Env = l.Dir, append(l.Environment[:len(l.Environment):len(l.Environment)], token)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, stderr := &drain{}, &drain{}
	pipes, err := plug(cmd, l.Input, stdout, stderr)
	if err != nil {
		return e, nil, err
	}
	begun := time.Now()
	err = process.Start(cmd)
	pipes.started()
	if err != nil {
		pipes.wait(0)
		if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EMFILE) {
			return e, nil, err
		}
		return e, &worker.Fault{Kind: CannotStart, Detail: err.Error()}, nil
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait(); close(ended) }()
	timer := time.NewTimer(l.Allowed)
	defer timer.Stop()
	var fault *worker.Fault
	select {
	case err = <-ended:
		e.Wall = time.Since(begun)
	case <-timer.C:
		fault = &worker.Fault{Kind: worker.Hung, Detail: fmt.Sprintf("no end within %s", l.Allowed)}
	case <-stdout.flooded():
		fault = &worker.Fault{Kind: worker.Flooded, Detail: "more than 1 GiB"}
	case <-stderr.flooded():
		fault = &worker.Fault{Kind: worker.Flooded, Detail: "more than 1 GiB on standard error"}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	// Whatever it has started and not waited for ends with it.
	process.KillGroup(cmd.Process.Pid)
	if process.Adopted() {
		for _, pid := range process.KillMarked(token) {
			if pid != cmd.Process.Pid {
				process.Reap(pid)
			}
		}
	}
	gone := true
	if fault != nil || ctx.Err() != nil {
		select {
		case <-ended:
		case <-time.After(killGrace):
			gone = false
			fault = &worker.Fault{Kind: worker.Unkillable, Detail: "it did not end within 5 s of being killed"}
		}
	}
	process.KillOrphans(cmd.Process.Pid, gone)
	pipes.wait(killGrace)
	switch exit := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		return e, nil, context.Cause(ctx)
	case fault != nil:
		fault.Output = string(stderr.bytes())
		return e, fault, nil
	case err != nil && !errors.As(err, &exit):
		return e, nil, err
	}
	e.Stdout, e.Stderr, e.Cut = stdout.bytes(), stderr.bytes(), stdout.cut()
	e.describe(cmd.ProcessState)
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return e, &worker.Fault{Kind: worker.Crashed, Detail: status.Signal().String(), Output: string(e.Stderr)}, nil
	}
	return e, nil, nil
}

// describe takes over what the system says. It says nothing of use about memory: what a
// process had before it executed the program counts there, and that is this one's.
func (e *Execution) describe(state *os.ProcessState) {
	e.User, e.System, e.Status = state.UserTime(), state.SystemTime(), state.ExitCode()
}

// CannotStart is the kind of fault of a program that is not there, or is none.
const CannotStart worker.FaultKind = "cannot be started"

// pipes connect a program with this process. They are files and no Go readers, so that to
// wait for the program is not to wait for a process that it left behind.
type pipes struct {
	theirs, ours []*os.File
	done         sync.WaitGroup
}

func plug(cmd *exec.Cmd, input []byte, stdout, stderr *drain) (*pipes, error) {
	p := &pipes{}
	open := func() (read, write *os.File, err error) {
		if read, write, err = os.Pipe(); err != nil {
			closeAll(p.theirs)
			closeAll(p.ours)
		}
		return read, write, err
	}
	if input != nil {
		read, write, err := open()
		if err != nil {
			return nil, err
		}
		cmd.Stdin = read
		p.theirs, p.ours = append(p.theirs, read), append(p.ours, write)
		p.done.Go(func() {
			_, _ = write.Write(input) // a program need not read what it is given
			write.Close()
		})
	}
	for _, out := range []struct {
		to *drain
		at *io.Writer
	}{{stdout, &cmd.Stdout}, {stderr, &cmd.Stderr}} {
		read, write, err := open()
		if err != nil {
			return nil, err
		}
		*out.at = write
		p.theirs, p.ours = append(p.theirs, write), append(p.ours, read)
		p.done.Go(func() { out.to.read(read) })
	}
	return p, nil
}

// started closes the ends that are the program's.
func (p *pipes) started() { closeAll(p.theirs) }

// wait waits for what was printed to be read; a process that survived everything may hold a
// pipe open, and is given up.
func (p *pipes) wait(grace time.Duration) {
	read := make(chan struct{})
	go func() { p.done.Wait(); close(read) }()
	select {
	case <-read:
	case <-time.After(grace):
	}
	closeAll(p.ours)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// drain keeps the beginning of what is printed and reads the rest.
type drain struct {
	mu    sync.Mutex
	kept  []byte
	total int64
	full  chan struct{}
	once  sync.Once
}

func (d *drain) flooded() chan struct{} {
	d.once.Do(func() { d.full = make(chan struct{}) })
	return d.full
}

func (d *drain) read(from *os.File) {
	buffer, full := make([]byte, 64<<10), d.flooded()
	for {
		n, err := from.Read(buffer)
		d.mu.Lock()
		before := d.total
		d.total += int64(n)
		d.kept = append(d.kept, buffer[:min(n, mostOutput-len(d.kept))]...)
		d.mu.Unlock()
		if before <= flood && before+int64(n) > flood {
			close(full)
		}
		if err != nil {
			return
		}
	}
}

func (d *drain) bytes() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return bytes.Clone(d.kept)
}

func (d *drain) cut() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.total > int64(len(d.kept))
}
