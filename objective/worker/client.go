// Package worker runs kernels in a process of their own, so that a crash, a
// hang or an exit(0) in a kernel costs one trial and not the program.
//
// Both ends of the process protocol live here. The worker is this same binary,
// executed again with an environment variable (see Main); it serves a Device.
// The other end is Client. They speak in frames over two pipes of their own:
// standard input is empty and standard output and error go to a third pipe
// that the client drains, so a kernel that prints cannot disturb anything.
//
//  1. Start executes the binary and returns a Client.
//  2. Load names a module, its arguments and the seed of its inputs.
//  3. Run executes the kernel once and returns its outputs; Time executes it
//     many times and returns samples. Where results are handed over, Arrange says
//     on which inputs, and Collect returns what the timed launches have left.
//  4. When the process dies, hangs or floods its output, the call returns a
//     *Fault that says what happened, and the client is finished.
//
// A worker whose client is gone reads the end of its request pipe and exits.
//
// A Session is one worker while one point uses it. Each call has a time limit, and
// what the kernel did (a *Fault) is kept apart from what broke (an error).
// Workers come from one of two places, and a Source hides which:
//
//   - Fresh starts a process for every session. A kernel on the processor may do
//     anything to the process it runs in, and a process is cheap there.
//   - Residents keeps a process per device. A context on a GPU costs as much as
//     twenty trials, so it serves many points, until one of them may have damaged it.
//
// A Compiler runs what turns sources into kernels.
package worker

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"pawl/internal/process"
)

// Command says how to start a worker.
type Command struct {
	// Under is a tool with its arguments that runs this binary and watches what
	// it does: compute-sanitizer. What it finds is a Fault. Empty means none.
	Under []string
	// Device is the name under which Main finds the device.
	Device string
	// Environment is added to what a worker inherits of the environment of this
	// process, which is little: see process.Environment.
	Environment []string
	// Shared says that kernels run in the worker's own memory. Whatever it says
	// after the first of them has run may be the kernel's word, its errors too.
	Shared bool
	// Access is which files it may use. Nil means all that this process may.
	Access *process.Access
	// OpensNoFiles says that a kernel opens no files after its first run, and has none open.
	OpensNoFiles bool
	// Memory is how many bytes a worker may allocate. Zero means any.
	Memory int64
	// OutputLimit is how many bytes a worker may print during one request before
	// it counts as flooding. Zero means 1 MiB.
	OutputLimit int64
	// KillGrace is how long to wait for a killed process to be gone. Zero
	// means 5 s.
	KillGrace time.Duration

	signal func(pid int) // tests inject a process that does not die
}

// Client is the near end of a worker. Calls must not overlap. After a call has
// returned a *Fault, or its context has ended, only Close may follow.
type Client struct {
	command  Command
	process  *process.Process
	reader   *bufio.Reader
	output   *process.Output
	found    *findings // nil where no tool watches
	regions  []Region
	outputs  []int    // the sizes of what was loaded last; nil where unknown
	nonces   []string // of the requests that were sent and not answered
	ran      bool     // a kernel has run in it
	paused   bool
	memory   *os.File // the worker's; nil before it was paused
	finished bool
}

// tailSize is how much of a worker's output is kept.
const tailSize = 4 << 10

// Start executes a worker.
func Start(command Command) (*Client, error) {
	command.OutputLimit = cmp.Or(command.OutputLimit, 1<<20)
	command.KillGrace = cmp.Or(command.KillGrace, 5*time.Second)
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	c := &Client{command: command, output: &process.Output{Keep: tailSize, Last: true, Flood: command.OutputLimit}}
	if len(command.Under) > 0 {
		c.found = &findings{}
		c.output.To = c.found
	}
	environment := append(process.Environment(os.Environ()), deviceVariable+"="+command.Device)
	if command.Memory > 0 {
		environment = append(environment, fmt.Sprintf("%s=%d", memoryVariable, command.Memory))
	}
	c.process, err = process.Start(process.Command{
		Line: slices.Concat(command.Under, []string{executable}), Dialog: process.OnExtra, Contained: true,
		Environment: append(environment, command.Environment...), Stdout: c.output, Stderr: c.output,
		Grace: command.KillGrace, Signal: command.signal, Access: command.Access.Reading(executable),
	})
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	c.reader = bufio.NewReaderSize(c.process.Answers, 1<<16)
	return c, nil
}

// Load sends a module and its arguments.
func (c *Client) Load(ctx context.Context, load Load) error {
	c.regions = nil
	reply, err := c.withFilesOpen(ctx, request{Load: &load})
	if err == nil {
		c.loaded(load, reply)
	}
	return err
}

// withFilesOpen makes a call during which the worker may open files.
func (c *Client) withFilesOpen(ctx context.Context, r request) (response, error) {
	if !c.command.OpensNoFiles {
		return c.call(ctx, r)
	}
	c.process.OpenFiles()
	reply, err := c.call(ctx, r)
	if left := c.process.CloseFiles(); err == nil && len(left) > 0 {
		err = c.fail(&Fault{Kind: LeftOpen, Detail: strings.Join(left, ", ")})
	}
	return reply, err
}

// loaded keeps what is known about the kernel that the worker has now.
func (c *Client) loaded(load Load, reply response) {
	c.regions, c.outputs = reply.Regions, outputSizes(load)
}

// Run runs the loaded kernel.
func (c *Client) Run(ctx context.Context, run Run) (Result, error) {
	call := c.withFilesOpen // some libraries load their parts when they are first called
	if c.ran {
		call = c.call
	}
	reply, err := call(ctx, request{Run: &run})
	return reply.Result, err
}

// Time takes samples of the loaded kernel.
func (c *Client) Time(ctx context.Context, t Time) (Timing, error) {
	began, paused := time.Now(), c.paused
	before, _ := c.process.Worked()
	reply, err := c.call(ctx, request{Time: &t})
	if err != nil {
		return Timing{}, err
	}
	if reply.Timing == nil {
		return Timing{}, c.fail(&Fault{Kind: Garbled, Detail: "a timing without samples"})
	}
	timing := *reply.Timing
	timing.Elapsed = reply.at.Sub(began)
	if paused { // what goes on after its answer is in the time
		_, err = c.Pause()
		timing.Elapsed = time.Since(began)
	}
	timing.Worked = timing.Elapsed
	if now, known := c.process.Worked(); known && c.command.Shared {
		timing.Worked = min(timing.Worked, now-before)
	}
	return timing, err
}

// Arrange gets inputs ready for the launches that are timed next.
func (c *Client) Arrange(ctx context.Context, a Arrange) ([]Region, error) {
	reply, err := c.call(ctx, request{Arrange: &a})
	return reply.Regions, err
}

// Pause stops whatever runs in the worker's process until the next call, and returns its memory, by address. A timing
// of a paused worker pauses it again. An error is a fault of the kernel, or says that the system does not do that.
func (c *Client) Pause() (memory *os.File, err error) {
	if c.memory == nil {
		c.memory, err = os.OpenFile(fmt.Sprintf("/proc/%d/mem", c.process.Pid), os.O_RDWR, 0)
	}
	if err == nil {
		err = c.process.Pause()
	}
	if errors.Is(err, process.ErrTime) {
		err = c.fail(&Fault{Kind: Hung, Detail: "it did not stop when it was told to"})
	}
	c.paused = err == nil
	return c.memory, err
}

// Collect returns what the launches that were timed last have left behind.
func (c *Client) Collect(ctx context.Context, collect Collect) (Result, error) {
	reply, err := c.call(ctx, request{Collect: &collect})
	return reply.Result, err
}

// Step is a case: a problem and a run of it. Without a run it only gets the kernel
// and the problem ready.
type Step struct {
	Load Load
	Run  *Run
}

// Check takes steps one after the other and hands the result of each to judge,
// until judge says that it has seen enough. A step without a run has an empty one.
// Requests are sent ahead, as many as may be: the worker never waits for this process in between,
// which costs more than a small case does. Every answer to them is read, also those that nobody needs any more.
// Each request is allowed its time. At returns the number of the step that an error or a fault belongs to.
func (c *Client) Check(ctx context.Context, allowed time.Duration, steps []Step,
	judge func(int, Result) bool) (at int, err error) {
	var requests []request
	var of []int // the step of each request
	for i, step := range steps {
		requests, of = append(requests, request{Load: &step.Load}), append(of, i)
		if step.Run != nil {
			requests, of = append(requests, request{Run: step.Run}), append(of, i)
		}
	}
	c.regions = nil
	enough := false
	for i, r := range requests {
		if i%mostAhead == 0 {
			if enough {
				break
			}
			if err := c.send(requests[i:min(i+mostAhead, len(requests))]...); err != nil {
				return of[i], err
			}
		}
		bounded, cancel := process.Allow(ctx, allowed)
		reply, err := c.await(bounded)
		cancel()
		if err == nil && r.Load != nil {
			c.loaded(*r.Load, reply)
		}
		if err != nil {
			if !c.finished {
				c.finish() // it may still answer requests that nobody waits for
			}
			if enough {
				return 0, nil // the verdict stands
			}
			return of[i], err
		}
		last := i+1 == len(requests) || of[i+1] != of[i]
		if last && !enough {
			enough = !judge(of[i], reply.Result)
		}
	}
	return 0, nil
}

// Alive reports whether the worker can be called.
func (c *Client) Alive() bool { return !c.finished && c.process.Alive() }

// Finished reports whether the worker is of no more use.
func (c *Client) Finished() bool { return c.finished }

// Pid returns the process number of the worker.
func (c *Client) Pid() int { return c.process.Pid }

// status is how the worker has ended.
func (c *Client) status() syscall.WaitStatus {
	status, _ := c.process.State.Sys().(syscall.WaitStatus)
	return status
}

// Close ends the worker. It is safe to call at any time, more than once.
func (c *Client) Close() {
	c.memory.Close() // nil where there is none
	if !c.finished {
		c.process.Resume()
		c.process.Requests.Close() // a healthy worker leaves at the end of its pipe
		select {
		case <-c.process.Ended:
		case <-time.After(time.Second):
		}
		c.finish()
	}
	c.process.Close()
}
