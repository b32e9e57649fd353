// Package compiler runs compilers: as processes, without a shell, for a bounded
// time, with their whole process group killed when it is over.
//
// Three ends are kept apart, because a search treats them differently: a
// compiler that refused the source (a *Refusal: knowledge about the point), one
// that took too long (ErrTime: likewise), and anything else, which means that
// no point could be compiled.
package compiler

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"pawl/objective/worker/process"
)

// ErrTime is the cause of a compilation that took too long.
var ErrTime = errors.New("the compiler took too long")

// Refusal is a compiler's answer that it cannot compile this source.
type Refusal struct {
	// Output is what it printed about it.
	Output string
	// Status is its exit status, -1 if a signal ended it.
	Status int
}

func (r *Refusal) Error() string { return firstError(r.Output) }

var (
	// An error line of gcc, clang, nvcc, ptxas ("ptxas error   : ..."), NVRTC, the GNU assembler
	// ("Error: ...") and the linker.
	errorLine = regexp.MustCompile(`\b([Ee]rror|fatal)\s*:|undefined reference|multiple definition|cannot find `)
	// What drivers say about a linker that has said why on lines before.
	linkerFailed = regexp.MustCompile(`\b(ld returned|linker command failed)`)
)

// firstError returns the first line that reports an error, or the first line.
func firstError(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for _, line := range lines {
		if errorLine.MatchString(line) && !linkerFailed.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	if lines[0] == "" {
		return "the compiler gave no reason"
	}
	return strings.TrimSpace(lines[0])
}

// Command is a compiler's program and how to run it.
type Command struct {
	// Program is the executable and any leading arguments.
	Program []string
	// Dir is the working folder; empty means this process's.
	Dir string
	// Environment is added to this process's own.
	Environment []string

	most   int    // bytes that it may print on either stream; 0 is mostPrinted
	memory uint64 // bytes that each of its processes may allocate; 0 is half of the machine's
}

// mostPrinted is more than any preprocessed source has, and small enough to be kept: a macro
// that doubles itself, or a compiler that repeats itself, would fill the memory.
const mostPrinted = 256 << 20

func (c Command) mostPrinted() int { return cmp.Or(c.most, mostPrinted) }

// printed is what a compiler prints on one stream. Where that is too much, no more is read,
// which ends the compiler. The buffer is not embedded: it would read by itself, past the limit.
type printed struct {
	kept bytes.Buffer
	most int
	full bool
}

func (p *printed) Write(some []byte) (int, error) {
	if p.full = p.full || p.kept.Len()+len(some) > p.most; p.full {
		return 0, errors.New("too much output")
	}
	return p.kept.Write(some)
}

// Output is what a compiler printed.
type Output struct{ Stdout, Stderr []byte }

// Run executes the compiler with input on its standard input and kills its
// whole process group when the time allowed is over. One that hardly ran in all that time
// was kept from it by the machine, which says nothing about the source: it is started once more.
func (c Command) Run(ctx context.Context, allowed time.Duration, input []byte, arguments ...string) (Output, error) {
	output, err := c.once(ctx, allowed, input, arguments)
	if errors.Is(err, errStarved) && ctx.Err() == nil {
		return c.once(ctx, allowed, input, arguments)
	}
	return output, err
}

// errStarved is the ErrTime of a compiler that hardly ran.
var errStarved = fmt.Errorf("%w: it hardly ran", ErrTime)

// starvedShare is the part of its time that a compiler computes at least on a machine that lets it.
const starvedShare = 0.1

// once is Run with one attempt.
func (c Command) once(ctx context.Context, allowed time.Duration, input []byte, arguments []string) (Output, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, allowed, ErrTime)
	defer cancel()
	leading := c.Program[1:len(c.Program):len(c.Program)]
	cmd := exec.CommandContext(ctx, c.Program[0], append(leading, arguments...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	starved := false
	cmd.Cancel = func() error {
		if used, known := process.GroupTime(cmd.Process.Pid); known && context.Cause(ctx) == ErrTime {
			starved = used.Seconds() < starvedShare*allowed.Seconds()
		}
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	cmd.WaitDelay = 2 * time.Second
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), c.Environment...)
	cmd.Env = append(cmd.Env, "LC_ALL=C") // messages are searched for "error:"
	cmd.Stdin = bytes.NewReader(input)
	stdout, stderr := &printed{most: c.mostPrinted()}, &printed{most: c.mostPrinted()}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := c.start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return Output{stdout.kept.Bytes(), stderr.kept.Bytes()}, nil
	case starved:
		return Output{}, errStarved
	case ctx.Err() != nil:
		return Output{}, context.Cause(ctx)
	case stdout.full || stderr.full: // nobody read on, so how it ended says nothing
		return Output{}, &Refusal{fmt.Sprintf("error: the compiler printed more than %d MB", c.mostPrinted()>>20), -1}
	case errors.As(err, &exit) && exit.Exited():
		return Output{}, &Refusal{stderr.kept.String(), exit.ExitCode()}
	case errors.As(err, &exit):
		return Output{}, &Refusal{fmt.Sprintf("error: the compiler itself ended with %v\n%s", exit, stderr.kept.String()), -1}
	}
	return Output{}, fmt.Errorf("running %s: %w", c.Program[0], err)
}

// start starts a compiler behind everything else: who waits for a device must not
// wait for a core. Where somebody has changed the priority of all this, it stays. Nor may a
// source that needs endless memory take it from everybody.
func (c Command) start(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	if most := cmp.Or(c.memory, process.Memory()/2); most > 0 {
		process.LimitMemory(cmd.Process.Pid, most)
	}
	// Linux answers with 20 for the ordinary priority, others with 0.
	if own, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err == nil && (own == 20 || own == 0) {
		_ = syscall.Setpriority(syscall.PRIO_PGRP, cmd.Process.Pid, compilerNice) // it may have ended
	}
	return nil
}

// compilerNice is how far compilers stand back, on the scale of nice(1).
const compilerNice = 10

// FullDisk tells a compiler that could not write from one that refused.
func FullDisk(err error) error {
	if refused, ok := errors.AsType[*Refusal](err); ok &&
		(strings.Contains(refused.Output, syscall.ENOSPC.Error()) || strings.Contains(refused.Output, "No space left")) {
		return &fs.PathError{Op: "write", Path: "compile cache", Err: syscall.ENOSPC}
	}
	return err
}
