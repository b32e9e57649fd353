// Package process runs other programs: compilers, profilers, git, scripts, rivals, and the
// workers that kernels run in.
//
// Such a program is code that nobody here has read. It may hang, print without end, take all
// memory, fork, print secrets or leave daemons behind. There is one way to run one:
//
//  1. Start gives it a process group and has the system end it first where memory runs out.
//     No shell sees its command line, secrets are left out of its environment, and an Access
//     says which files it may use. It cannot look into this process.
//  2. What it prints is read to its end by an Output, which keeps a part of it.
//  3. Run waits for its end, for the end of its time, or for too much output. Of a program that
//     stays, Ask waits for one answer, and for whatever comes before that.
//  4. Kill ends its group, and whatever else a contained program has started: that is found
//     by a token in its environment, and by the mark that Limit sets. This process is the
//     subreaper of what its programs leave behind.
//
// A process that runs kernels limits itself before the first of them (Limit, Confine), and who has
// started it ends its opening of files (CloseFiles). Only Linux has all of it; elsewhere a program
// is ended by its group.
package process

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Command is a program and how it is run.
type Command struct {
	// Line is the program and its arguments.
	Line []string
	// Dir is the folder to run in; empty means this process's own.
	Dir string
	// Environment is all that it sees, without what is secret: see Scrubbed. Nil means this process's own.
	Environment []string
	// Secrets says that it needs what is secret: git pushes with it.
	Secrets bool
	// Access is which files it may use. Nil means all of this process's.
	Access *Access
	// Input is what it reads. Nil means nothing.
	Input io.Reader
	// Dialog says where it reads requests and writes answers; zero means nowhere.
	Dialog Dialog
	// Stdout and Stderr read what it prints. They may be the same; nil means that nobody reads.
	Stdout, Stderr *Output
	// Memory is how many bytes each of its processes may allocate. Zero means any number.
	Memory uint64
	// Background has it run behind everything else: who waits for a device must not wait for
	// a core.
	Background bool
	// Contained ends with it all that it has started, also what has left its group. KeepGroup
	// lets go on what it leaves in its group when it ends by itself: a daemon that others use.
	Contained, KeepGroup bool
	// Allowed is how long Run lets it run. Zero means any time.
	Allowed time.Duration
	// Grace is how long a killed process may take to be gone. Zero means 5 s.
	Grace time.Duration
	// Signal kills a process, or a group by its negative number. Nil means SIGKILL; tests
	// inject a process that does not die.
	Signal func(pid int)
}

// Dialog is a pair of descriptors, for requests and for answers.
type Dialog int

const (
	// OnStandard is standard input and output.
	OnStandard Dialog = iota + 1
	// OnExtra is the two descriptors after standard error, 3 and 4.
	OnExtra
)

// tokenVariable marks what a contained program starts.
const tokenVariable = "PAWL_PROCESS"

// background is how far programs in the background stand back, on the scale of nice(1).
const background = 10

// Process is a program that was started. Kill and Close it.
type Process struct {
	// Pid is its number, and that of its group.
	Pid int
	// Requests and Answers are this end of its dialog.
	Requests, Answers *os.File
	// Ended is closed when the process has ended and what it printed was read.
	Ended chan struct{}
	// Err and State say how it ended, Wall after how long. They are set when Ended is closed.
	Err   error
	State *os.ProcessState
	Wall  time.Duration

	command Command
	token   string

	lines *bufio.Scanner // of Answers; nil before the first Ask

	mu     sync.Mutex
	reaped bool // its number may be another's
	ended  bool // it was running when Kill ended it
}

// Start starts a program.
func Start(c Command) (*Process, error) {
	c.Grace = cmp.Or(c.Grace, 5*time.Second)
	if c.Signal == nil {
		c.Signal = func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) } // it may be gone
	}
	p := &Process{command: c, Ended: make(chan struct{}), token: tokenVariable + "=" + rand.Text()}
	cmd := exec.Command(c.Line[0], c.Line[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Environment, c.Input
	if !c.Secrets {
		cmd.Env = Scrubbed(cmd.Environ())
		for _, printed := range []*Output{c.Stdout, c.Stderr} {
			printed.scrub()
		}
	}
	if c.Contained {
		cmd.Env = append(cmd.Environ(), p.token)
	}
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	if c.Stderr != nil {
		cmd.Stderr = c.Stderr
	}
	cmd.WaitDelay = lingering
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	theirs, err := p.connect(cmd)
	begun := time.Now()
	if err == nil {
		err = start(cmd, c.Access, p.Ended)
	}
	closeAll(theirs...)
	if err != nil {
		p.Close()
		return nil, c.notStarted(err)
	}
	p.Pid = cmd.Process.Pid
	if c.Memory > 0 {
		limitMemory(p.Pid, c.Memory)
	}
	// Where somebody has changed the priority of all this, it stays. Linux answers with 20 for
	// the ordinary one, others with 0.
	if own, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); c.Background && err == nil && (own == 20 || own == 0) {
		_ = syscall.Setpriority(syscall.PRIO_PGRP, p.Pid, background) // it may have ended
	}
	go p.wait(cmd, begun)
	return p, nil
}

// notStarted says so where the folder is gone that the program was to run in: the system blames the program.
func (c Command) notStarted(err error) error {
	if c.Dir == "" {
		return err
	}
	if _, gone := os.Stat(c.Dir); gone != nil {
		return &MachineFault{What: fmt.Sprintf("the folder that %s was to run in is gone", c.name()), Err: gone}
	}
	return err
}

// name is what the program is called in a message.
func (c Command) name() string { return filepath.Base(c.Line[0]) }

// connect opens the pipes of a dialog and returns the program's ends.
func (p *Process) connect(cmd *exec.Cmd) (theirs []*os.File, err error) {
	if p.command.Dialog == 0 {
		return nil, nil
	}
	reads, requests, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answers, writes, err := os.Pipe()
	if p.command.Dialog == OnStandard {
		cmd.Stdin, cmd.Stdout = reads, writes
	} else {
		cmd.ExtraFiles = []*os.File{reads, writes}
	}
	p.Requests, p.Answers = requests, answers
	return []*os.File{reads, writes}, err
}

// wait waits for the end of the process, and ends what it leaves behind while the number is
// still its own.
func (p *Process) wait(cmd *exec.Cmd, begun time.Time) {
	err := waitFor(cmd, func() {
		p.Wall = time.Since(begun)
		p.mu.Lock()
		if p.reaped = true; !p.command.KeepGroup {
			p.command.Signal(-p.Pid)
		}
		p.mu.Unlock()
		p.killDescendants(true)
	})
	if !errors.Is(err, exec.ErrWaitDelay) { // that somebody else holds the pipes is no fault of its own
		p.Err = err
	}
	p.State = cmd.ProcessState
	close(p.Ended)
}

// Kill ends the process, its group and, where it is contained, whatever else it has started.
// It reports whether the process is gone.
func (p *Process) Kill() (gone bool) {
	p.mu.Lock()
	if !p.reaped {
		p.ended = true
		p.command.Signal(-p.Pid)
		p.command.Signal(p.Pid) // it may have joined another group
	}
	p.mu.Unlock()
	select {
	case <-p.Ended:
		return true
	case <-time.After(p.command.Grace):
		p.killDescendants(false)
		return false
	}
}

// Alive reports whether the process has not ended.
func (p *Process) Alive() bool {
	select {
	case <-p.Ended:
		return false
	default:
		return !isZombie(p.Pid)
	}
}

// Close closes this end of a dialog.
func (p *Process) Close() { closeAll(p.Requests, p.Answers) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		f.Close() // nil where there is none
	}
}
