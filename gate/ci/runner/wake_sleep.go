package runner

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"pawl/gate/reporting"
	"pawl/internal/escape"
	"pawl/internal/process"
)

const (
	// attempts is how often putting the machine to sleep is tried.
	attempts = 4
	// misses is how often in a row the machine must not answer to be asleep.
	misses = 3
)

// Start wakes the machine and returns when it answers. Whatever fails, and when the context
// ends, the machine is put to sleep again before it returns. Say gets what a person may want
// to know.
func (c *Config) Start(ctx context.Context, say func(string)) (*reporting.Cost, error) {
	a := &reporting.Cost{Woke: time.Now().UTC().Round(0), PricePerHour: c.Price, Currency: c.Currency}
	for _, words := range [][]string{c.Wake, c.Check, c.Sleep} {
		if _, err := exec.LookPath(words[0]); err != nil {
			return nil, fmt.Errorf("nothing was woken: %s: %w", FileName, err)
		}
	}
	err := c.rouse(ctx, a.Woke.Add(c.Patience))
	if err == nil {
		return a, nil
	}
	err = fmt.Errorf("waking the machine: %w", err)
	if failed := c.Stop(context.WithoutCancel(ctx), say); failed != nil {
		return a, errors.Join(err, failed)
	}
	return a, fmt.Errorf("%w; it was put to sleep again", err)
}

// rouse wakes the machine and waits until it answers.
func (c *Config) rouse(ctx context.Context, until time.Time) error {
	if err := execute(ctx, c.Wake, c.Patience); err != nil {
		return err
	}
	for {
		err := execute(ctx, c.Check, max(time.Until(until), c.Patience/10))
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("stopped before it answered: %w", ctx.Err())
		case time.Now().After(until):
			return fmt.Errorf("it does not answer after %s: %w", c.Patience, err)
		}
		wait(ctx, min(c.pause, time.Until(until)))
	}
}

// Guard returns when the machine does not answer any more. It puts it to sleep when its
// longest time awake is over. When the context ends, the machine is as it was.
func (c *Config) Guard(ctx context.Context, woke time.Time, say func(string)) error {
	for missed := 0; missed < misses; {
		// By the clock on the wall: a machine that was suspended is late as it is.
		left := woke.Add(c.Longest).Sub(time.Now().Round(0))
		if left <= 0 {
			say("its longest time awake is over")
			return c.Stop(context.WithoutCancel(ctx), say)
		}
		wait(ctx, min(left, 15*c.pause))
		err := execute(ctx, c.Check, c.Patience)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if missed++; err == nil {
			missed = 0
		}
	}
	say("it does not answer any more")
	return nil
}

// Stop puts the machine to sleep, whatever is known about it. It tries a few times.
func (c *Config) Stop(ctx context.Context, say func(string)) error {
	for attempt := 1; ; attempt++ {
		err := execute(ctx, c.Sleep, c.Patience)
		if err == nil {
			return nil
		}
		if attempt == attempts || errors.Is(err, exec.ErrNotFound) {
			price := ""
			if c.Price > 0 {
				price = fmt.Sprintf(", at %.2f %s an hour", c.Price, c.Currency)
			}
			return fmt.Errorf("THE MACHINE MAY STILL BE AWAKE%s: put it to sleep by hand: %w", price, err)
		}
		say(fmt.Sprintf("attempt %d of %d: %v; trying again", attempt, attempts, err))
		wait(ctx, c.pause<<(attempt-1))
	}
}

// execute runs a command without a shell, for at most a time. What hangs is killed with all
// that it has started. The error has the end of what it printed.
func execute(ctx context.Context, words []string, limit time.Duration) error {
	output := &process.Output{Keep: 2048, Last: true}
	// It may start what is to stay.
	command := process.Command{
		Line:      words,
		Stdout:    output,
		Stderr:    output,
		Allowed:   limit,
		KeepGroup: true, Secrets: true,
	}
	_, err := process.Run(ctx, command)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, process.ErrTime):
		err = fmt.Errorf("it took longer than %s", limit)
	}
	text := escape.Line(strings.TrimSpace(output.String()))
	return fmt.Errorf("%s: %w: %s", escape.Line(escape.Shell(words...)), err, text)
}

// wait waits, or less where the context ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
