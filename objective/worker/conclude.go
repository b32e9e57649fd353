package worker

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// lastWords is how long a tool may take to report after its worker has ended.
const lastWords = 20 * time.Second

// Conclude ends a worker that runs under a tool and returns what the tool found,
// as a *Fault. Tools report when they please, some only at the end, so that only
// now their silence means something. An error that is no Fault says that the tool
// did not do its work. Only Close may follow.
func (c *Client) Conclude(ctx context.Context) error {
	if c.finished || c.found == nil {
		return errors.New("worker: nothing watches it, or it has ended")
	}
	c.requests.Close() // a healthy worker leaves at the end of its pipe
	said := c.listen(ctx)
	died := c.finish()
	if fault := c.found.fault(); fault != nil {
		return fault
	}
	if reason := c.found.complete(); reason != "" || !said || !died {
		return fmt.Errorf("%s: nothing is known about this case (%s; it printed %q)", c.command.Under[0], reason, tellingLine(c.output.tail()))
	}
	return nil
}

// listen waits until the tool has said everything, and reports whether it has.
func (c *Client) listen(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	for _, end := range []chan struct{}{c.exited, c.output.ended} {
		select {
		case <-end:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
