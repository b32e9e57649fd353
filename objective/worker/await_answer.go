package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"
)

type answered struct {
	reply response
	at    time.Time // when it was there
	err   error
}

func (c *Client) call(ctx context.Context, r request) (response, error) {
	a, err := c.await(ctx, c.send(r))
	return a.reply, err
}

// send writes requests while others go on, and returns what went wrong.
func (c *Client) send(requests ...request) <-chan error {
	failed := make(chan error, 1)
	for i := range requests {
		requests[i].Nonce = rand.Text()
		c.nonces = append(c.nonces, requests[i].Nonce)
		c.ran = c.ran || requests[i].Load == nil
	}
	c.output.Recount()
	if c.paused {
		c.paused = false
		c.process.Resume()
	}
	go func() {
		for _, r := range requests {
			if err := writeFrame(c.process.Requests, r); err != nil {
				failed <- err
				return
			}
		}
	}()
	return failed
}

// await waits for whatever comes first: the next answer, the end of the process,
// a flood, or the end of the time allowed.
func (c *Client) await(ctx context.Context, sent <-chan error) (answered, error) {
	if c.finished {
		return answered{}, errors.New("worker: called after its end")
	}
	nonce, known := c.nonces[0], c.outputs
	c.nonces = c.nonces[1:]
	answers := make(chan answered, 1)
	go func() { answers <- readAnswer(c.reader, nonce, known) }()
	select {
	case a := <-answers:
		return c.receive(a)
	case err := <-sent:
		// The worker may have said why it reads no more.
		select {
		case a := <-answers:
			return c.receive(a)
		case <-time.After(time.Second):
			return c.receive(answered{err: err})
		}
	case <-c.process.Ended:
		// The last frame may still be on its way through the pipe.
		select {
		case a := <-answers:
			return c.receive(a)
		case <-time.After(100 * time.Millisecond):
			return answered{}, c.fail(faultOfExit(c.status(), nil, c.regions))
		}
	case <-c.output.Flooded():
		return answered{}, c.fail(&Fault{Kind: Flooded, Detail: fmt.Sprintf("over %d bytes", c.command.OutputLimit)})
	case <-ctx.Done():
		if over, ok := errors.AsType[allowance](context.Cause(ctx)); ok {
			return answered{}, c.fail(&Fault{Kind: Hung, Detail: over.Error()})
		}
		c.finish()
		return answered{}, context.Cause(ctx)
	}
}

// errForged says that a frame is no answer to the request.
var errForged = errors.New("worker protocol: a reply that belongs to no request")

// readAnswer reads the answer to a request. The last frame of a dying worker comes
// from a signal handler, which knows no nonce; it can only accuse the kernel.
func readAnswer(r io.Reader, nonce string, outputs []int) (a answered) {
	if a.err = readFrame(r, &a.reply); a.err != nil {
		return a
	}
	a.at = time.Now()
	if a.reply.Nonce != nonce && a.reply.Fault == nil {
		a.err = errForged
		return a
	}
	a.reply.Outputs, a.err = readPayloads(r, a.reply.Sizes, outputs)
	return a
}

// receive turns what was read into the call's result.
func (c *Client) receive(a answered) (answered, error) {
	switch {
	case a.err == nil && a.reply.Ended != nil:
		return answered{}, c.fail(a.reply.Ended)
	case a.err == nil && a.reply.Fault == nil && a.reply.Error == "":
		return a, nil
	case a.err == nil && a.reply.Fault == nil && c.command.Shared && c.ran:
		return answered{}, c.fail(&Fault{Kind: Garbled, Detail: "the worker reports " + a.reply.Error})
	case a.err == nil && a.reply.Fault == nil:
		return answered{}, errors.New("worker: " + a.reply.Error)
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
		return answered{}, c.fail(faultOfExit(c.status(), report, c.regions))
	case <-time.After(wait):
		return answered{}, c.fail(&Fault{Kind: Garbled})
	}
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
