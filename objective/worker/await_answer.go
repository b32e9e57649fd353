package worker

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"pawl/internal/process"
)

// answered is what was read as an answer.
type answered struct {
	reply response
	err   error
}

func (c *Client) call(ctx context.Context, r request) (response, error) {
	if err := c.send(r); err != nil {
		return response{}, err
	}
	return c.await(ctx)
}

// send writes requests while others go on.
func (c *Client) send(requests ...request) error {
	var frames bytes.Buffer
	for _, r := range requests {
		r.Nonce = rand.Text()
		c.nonces = append(c.nonces, r.Nonce)
		c.ran = c.ran || r.Load == nil
		if err := writeFrame(&frames, r); err != nil {
			return err
		}
	}
	c.output.Recount()
	if c.paused {
		c.paused = false
		c.process.Resume()
	}
	// A worker that reads no more answers no more, which await notices.
	go func() { _, _ = c.process.Requests.Write(frames.Bytes()) }()
	return nil
}

// await waits for whatever comes first: the next answer, the end of the process,
// a flood, or the end of the time allowed.
func (c *Client) await(ctx context.Context) (response, error) {
	if c.finished {
		return response{}, errors.New("worker: called after its end")
	}
	nonce, known := c.nonces[0], c.outputs
	c.nonces = c.nonces[1:]
	a, err := process.Hear(ctx, c.process, func() answered { return readAnswer(c.reader, nonce, known) })
	switch {
	case err == nil:
		return c.receive(a)
	case errors.Is(err, process.ErrEnded):
		return response{}, c.gone(nil)
	case errors.Is(err, process.ErrFlood):
		return response{}, c.fail(&Fault{Kind: Flooded, Detail: fmt.Sprintf("over %d bytes", c.command.OutputLimit)})
	case errors.Is(err, process.ErrTime):
		return response{}, c.fail(&Fault{Kind: Hung, Detail: err.Error()})
	}
	c.finish()
	return response{}, err
}

// errForged says that a frame is no answer to the request.
var errForged = errors.New("worker protocol: a reply that belongs to no request")

// readAnswer reads the answer to a request. The last frame of a dying worker comes
// from a signal handler, which knows no nonce; it can only accuse the kernel.
func readAnswer(r io.Reader, nonce string, outputs []int) (a answered) {
	if a.err = readFrame(r, &a.reply); a.err != nil {
		return a
	}
	a.reply.at = time.Now()
	if a.reply.Nonce != nonce && a.reply.Fault == nil {
		a.err = errForged
		return a
	}
	a.reply.Outputs, a.err = readPayloads(r, a.reply.Sizes, outputs)
	return a
}

// receive turns what was read into the call's result.
func (c *Client) receive(a answered) (response, error) {
	switch {
	case a.err == nil && a.reply.Ended != nil:
		return response{}, c.fail(a.reply.Ended)
	case a.err == nil && a.reply.Fault == nil && a.reply.Error == "":
		return a.reply, nil
	case a.err == nil && a.reply.Fault == nil && c.command.Shared && c.ran:
		return response{}, c.fail(&Fault{Kind: Garbled, Detail: "the worker reports " + a.reply.Error})
	case a.err == nil && a.reply.Fault == nil && a.reply.Refused:
		return response{}, &process.MachineFault{What: "the system refused the worker", Err: errors.New(a.reply.Error)}
	case a.err == nil && a.reply.Fault == nil:
		return response{}, errors.New("worker: " + a.reply.Error)
	}
	// The pipe broke or the process announced its end: it should be gone soon.
	var report *signalReport
	if a.err == nil {
		report = a.reply.Fault
	}
	wait := time.Second
	if errors.Is(a.err, errForged) {
		wait = 0
	}
	select {
	case <-c.process.Ended:
		return response{}, c.gone(report)
	case <-time.After(wait):
		return response{}, c.fail(&Fault{Kind: Garbled})
	}
}

// gone explains the end of a worker that nobody here has ended. One that somebody else has killed says nothing about
// its kernel, which is not allowed to send itself such a signal. Where the system does not confine kernels, it may have
// been the kernel after all: then the *process.MachineFault wraps the fault.
func (c *Client) gone(report *signalReport) error {
	fault := faultOfExit(c.status(), report, c.regions)
	killed := c.process.Killed("the worker", uint64(c.command.Memory))
	if killed == nil {
		return c.fail(fault)
	}
	c.finish()
	if c.command.Shared && process.Confines() != nil {
		killed.Err = fault
	}
	return killed
}

// fail ends the worker and completes the fault. What a tool has found says more than how
// its worker ended. A worker that goes on is not waited for.
func (c *Client) fail(f *Fault) error {
	if c.found != nil {
		c.process.Requests.Close()
		goesOn := f.Kind == Hung || f.Kind == Flooded
		if !goesOn {
			c.listen(context.Background())
		}
		if found, broken, _ := c.found.said(); found != nil {
			f = found
		} else if broken != "" && !goesOn {
			c.finish()
			return fmt.Errorf("%s: %s (%s)", c.command.Under[0], broken, f)
		}
	}
	if died := c.finish(); !died {
		f = &Fault{
			Kind:   Unkillable,
			Detail: fmt.Sprintf("%s; still there %v after it was killed", f.Error(), c.command.KillGrace),
		}
	}
	f.Output = c.output.String()
	return f
}

// finish kills the process, its group and every descendant, and reports
// whether the process is gone.
func (c *Client) finish() bool {
	c.finished = true
	return c.process.Kill()
}
