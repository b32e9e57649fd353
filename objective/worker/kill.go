package worker

import (
	"context"
	"fmt"
	"time"

	"pawl/objective/worker/process"
)

// fail ends the worker and completes the fault. What a tool has found says more than how
// its worker ended. A worker that goes on is not waited for.
func (c *Client) fail(f *Fault) error {
	if c.found != nil {
		c.requests.Close()
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
	select { // its last words may still be in the pipe
	case <-c.output.ended:
	case <-time.After(time.Second): // somebody whom it left behind holds the pipe open
	}
	f.Output = c.output.tail()
	return f
}

// finish kills the process, its group and every descendant, and reports
// whether the process is gone.
func (c *Client) finish() bool {
	c.finished = true
	c.command.kill(c.process.Pid)
	select {
	case <-c.exited:
	case <-time.After(c.command.KillGrace):
	}
	if c.alive() || process.Adopted() { // else nothing of it is left, and /proc is long
		process.KillMarked(tokenVariable + "=" + c.token)
	}
	process.KillOrphans(c.process.Pid, !c.alive())
	return !c.alive()
}

func (c *Client) alive() bool {
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}
