package worker

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"pawl/objective/worker/process"
)

// Command says how to start a worker.
type Command struct {
	// Executable is the binary to run; empty means this one.
	Executable string
	// Under is a tool with its arguments that runs the binary and watches what
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
	// Memory is how many bytes a worker may allocate. Zero means any.
	Memory int64
	// OutputLimit is how many bytes a worker may print during one request before
	// it counts as flooding. Zero means 1 MiB.
	OutputLimit int64
	// KillGrace is how long to wait for a killed process to be gone. Zero
	// means 5 s.
	KillGrace time.Duration

	kill func(pid int) // tests inject a process that does not die
}

// errTimeAllowed is the cause of a context that Allow has ended.
var errTimeAllowed = errors.New("the time allowed is over")

// Allow bounds the time of a call. A call that takes longer returns a Fault of
// kind Hung; a call whose own context ends returns that context's error.
func Allow(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, errTimeAllowed)
}

// Client is the near end of a worker. Calls must not overlap. After a call has
// returned a *Fault, or its context has ended, only Close may follow.
type Client struct {
	command   Command
	process   *os.Process
	token     string
	requests  *os.File
	responses *os.File
	reader    *bufio.Reader
	output    *drain
	found     *findings // nil where no tool watches
	exited    chan struct{}
	status    syscall.WaitStatus
	regions   []Region
	outputs   []int    // the sizes of what was loaded last; nil where unknown
	nonces    []string // of the requests that were sent and not answered
	ran       bool     // a kernel has run in it
	finished  bool
}

// Start executes a worker.
func Start(command Command) (*Client, error) {
	command.OutputLimit = cmp.Or(command.OutputLimit, 1<<20)
	command.KillGrace = cmp.Or(command.KillGrace, 5*time.Second)
	if command.kill == nil {
		command.kill = process.KillGroup
	}
	if command.Executable == "" {
		executable, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("starting a worker: %w", err)
		}
		command.Executable = executable
	}
	c := &Client{command: command, token: rand.Text(), exited: make(chan struct{})}
	if err := c.start(); err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	return c, nil
}

func (c *Client) start() (err error) {
	var read, write [3]*os.File // of the pipes for requests, responses and output
	for i := range read {
		if read[i], write[i], err = os.Pipe(); err != nil {
			closeAll(slices.Concat(read[:], write[:]))
			return err
		}
	}
	line := append(slices.Clone(c.command.Under), c.command.Executable)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(process.Environment(os.Environ()), deviceVariable+"="+c.command.Device, tokenVariable+"="+c.token)
	if c.command.Memory > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", memoryVariable, c.command.Memory))
	}
	cmd.Env = append(cmd.Env, c.command.Environment...)
	cmd.ExtraFiles = []*os.File{read[0], write[1]}
	cmd.Stdout, cmd.Stderr = write[2], write[2]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = process.Start(cmd)
	closeAll([]*os.File{read[0], write[1], write[2]})
	if err != nil {
		closeAll([]*os.File{write[0], read[1], read[2]})
		return err
	}
	c.process = cmd.Process
	c.requests, c.responses = write[0], read[1]
	c.reader = bufio.NewReaderSize(c.responses, 1<<16)
	if len(c.command.Under) > 0 {
		c.found = &findings{}
	}
	c.output = newDrain(read[2], c.command.OutputLimit, c.found)
	go c.wait()
	return nil
}

// wait collects the process. It does not wait for the pipes: a process that
// the kernel left behind may hold them open for ever.
func (c *Client) wait() {
	state, err := c.process.Wait()
	if err == nil {
		c.status = state.Sys().(syscall.WaitStatus)
	}
	close(c.exited)
}

// Load sends a module and its arguments.
func (c *Client) Load(ctx context.Context, load Load) error {
	c.regions = nil
	reply, err := c.call(ctx, request{Load: &load})
	if err != nil {
		return err
	}
	return c.loaded(load, reply)
}

// loaded keeps what is known about the kernel that the worker has now.
func (c *Client) loaded(load Load, reply response) (err error) {
	c.regions = reply.Regions
	c.outputs, err = outputSizes(load)
	return err
}

// Run runs the loaded kernel.
func (c *Client) Run(ctx context.Context, run Run) (Result, error) {
	return c.result(ctx, request{Run: &run})
}

// Time takes samples of the loaded kernel.
func (c *Client) Time(ctx context.Context, t Time) (Timing, error) {
	began := time.Now()
	a, err := c.await(ctx, c.send(request{Time: &t}))
	if err != nil {
		return Timing{}, err
	}
	if a.reply.Timing == nil {
		return Timing{}, c.fail(&Fault{Kind: Garbled, Detail: "a timing without samples"})
	}
	timing := *a.reply.Timing
	timing.Elapsed = a.at.Sub(began)
	return timing, nil
}

// Arrange gets inputs ready for the launches that are timed next.
func (c *Client) Arrange(ctx context.Context, a Arrange) error {
	_, err := c.call(ctx, request{Arrange: &a})
	return err
}

// Collect returns what the launches that were timed last have left behind.
func (c *Client) Collect(ctx context.Context, collect Collect) (Result, error) {
	return c.result(ctx, request{Collect: &collect})
}

func (c *Client) result(ctx context.Context, r request) (Result, error) {
	reply, err := c.call(ctx, r)
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
// All requests are sent at once: the worker never waits for this process in between,
// which costs more than a small case does. Each request is allowed its time. At
// returns the number of the step that an error or a fault belongs to.
func (c *Client) Check(ctx context.Context, allowed time.Duration, steps []Step,
	judge func(int, Result) bool) (at int, err error) {
	enough := false
	for first := 0; first < len(steps) && !enough; first += mostAhead / 2 {
		some := steps[first:min(first+mostAhead/2, len(steps))]
		at, err := c.checkSome(ctx, allowed, some, func(i int, r Result) bool {
			enough = !judge(first+i, r)
			return !enough
		})
		if err != nil {
			return first + at, err
		}
	}
	return 0, nil
}

// checkSome is Check for as many steps as may be sent at once. It reads every
// answer, also those that nobody needs any more.
func (c *Client) checkSome(ctx context.Context, allowed time.Duration, steps []Step,
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
	sent := c.send(requests...)
	enough := false
	for i, r := range requests {
		bounded, cancel := Allow(ctx, allowed)
		a, err := c.await(bounded, sent)
		cancel()
		if err == nil && r.Load != nil {
			err = c.loaded(*r.Load, a.reply)
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
			enough = !judge(of[i], a.reply.Result)
		}
	}
	return 0, nil
}

// Alive reports whether the worker can be called.
func (c *Client) Alive() bool { return !c.finished && c.alive() && !process.Ended(c.process.Pid) }

// Finished reports whether the worker is of no more use.
func (c *Client) Finished() bool { return c.finished }

// Pid returns the process number of the worker.
func (c *Client) Pid() int { return c.process.Pid }

// Close ends the worker. It is safe to call at any time, more than once.
func (c *Client) Close() {
	if !c.finished {
		c.requests.Close() // a healthy worker leaves at the end of its pipe
		select {
		case <-c.exited:
		case <-time.After(time.Second):
		}
		c.finish()
	}
	c.requests.Close()
	c.responses.Close()
	c.output.close()
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close() // nil for a pipe that could not be opened
	}
}
