package process

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The ways in which a program ends that was killed.
var (
	// ErrTime: it did not end in the time allowed.
	ErrTime = errors.New("no end in the time allowed")
	// ErrStarved: nor did it run for a tenth of that time. That says more about the machine.
	ErrStarved = fmt.Errorf("%w: it hardly ran", ErrTime)
	// ErrFlood: it printed more than anyone could want.
	ErrFlood = errors.New("too much output")
	// ErrUnkillable: it went on after it was killed.
	ErrUnkillable = errors.New("it did not end when it was killed")
)

const (
	// starvedShare is the part of its time that a program computes at least on a machine that
	// lets it.
	starvedShare = 0.1
	// lingering is how long a process outside the group may hold on to the output of a program
	// that has ended.
	lingering = 2 * time.Second
)

// Run runs a program to its end. Nothing of its group is left then, but for KeepGroup. An *exec.ExitError says that
// it ended by itself, and not with status 0. Other errors are those above, the cause of the
// context, and why it could not be started; then there is no process.
func Run(ctx context.Context, c Command) (*Process, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p, err := Start(c)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var late <-chan time.Time
	if c.Allowed > 0 {
		late = time.After(c.Allowed)
	}
	select {
	case <-p.Ended:
	case <-late:
		err = ErrTime
		if used, known := groupTime(p.Pid); known && used.Seconds() < starvedShare*c.Allowed.Seconds() {
			err = ErrStarved
		}
	case <-c.Stdout.Flooded():
		err = ErrFlood
	case <-c.Stderr.Flooded():
		err = ErrFlood
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	switch gone := p.Kill(); {
	case !gone && ctx.Err() == nil:
		return p, ErrUnkillable
	case err != nil:
		return p, err
	case c.Stdout.isFlooded() || c.Stderr.isFlooded():
		return p, ErrFlood
	}
	return p, p.Err
}

// LastLine runs a program that answers at once, and returns the last line that it prints.
func LastLine(ctx context.Context, line ...string) (string, error) {
	printed := &Output{Keep: 4096, Last: true}
	_, err := Run(ctx, Command{Line: line, Stdout: printed, Allowed: 10 * time.Second})
	return printed.LastLine(), err
}
