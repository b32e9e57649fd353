package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrEnded: it ended, or closed its output, and had not answered.
var ErrEnded = errors.New("ended without an answer")

// longestAnswer is how long a line may be that a program answers with, in bytes.
const longestAnswer = 64 << 20

// lateAnswer is the cause of a context that Allow has ended. It is an ErrTime.
type lateAnswer time.Duration

func (l lateAnswer) Error() string {
	return fmt.Sprintf("no answer after %v", time.Duration(l).Round(10*time.Millisecond))
}

func (lateAnswer) Unwrap() error { return ErrTime }

// Allow bounds the time of a request. The cause of a context that it has ended is an ErrTime.
func Allow(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, lateAnswer(d))
}

// Hear returns what read has read from a program's Answers. An error says what came first: ErrEnded, ErrFlood, or the
// cause of the context. Then read goes on until the program is killed, and only Kill and Close may follow.
func Hear[T any](ctx context.Context, p *Process, read func() T) (answer T, err error) {
	heard := make(chan T, 1)
	go func() { heard <- read() }()
	select {
	case answer = <-heard:
		return answer, nil
	case <-p.Ended:
		// The last answer may still be on its way through the pipe, which others may hold open.
		select {
		case answer = <-heard:
			return answer, nil
		case <-time.After(lingering):
			return answer, ErrEnded
		}
	case <-p.command.Stdout.Flooded():
		return answer, ErrFlood
	case <-p.command.Stderr.Flooded():
		return answer, ErrFlood
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	}
}

// Ask writes a line to a program, where there is one, and returns the line that it answers with. Requests must not
// overlap. Errors are those of Hear. After one the program is killed, and only Close may follow.
func (p *Process) Ask(ctx context.Context, line []byte) ([]byte, error) {
	if p.lines == nil {
		p.lines = bufio.NewScanner(p.Answers)
		p.lines.Buffer(nil, longestAnswer)
	}
	heard, err := Hear(ctx, p, func() bool {
		if len(line) > 0 {
			_, _ = p.Requests.Write(append(line, '\n')) // a program that does not read it may still have answered
		}
		return p.lines.Scan()
	})
	switch {
	case err == nil && heard:
		return bytes.Clone(p.lines.Bytes()), nil
	case err == nil && errors.Is(p.lines.Err(), bufio.ErrTooLong):
		err = ErrFlood
	case err == nil:
		err = ErrEnded
	}
	if errors.Is(err, ErrEnded) { // how it ended is its own, where it does so by itself
		select {
		case <-p.Ended:
		case <-time.After(lingering):
		}
	}
	if gone := p.Kill(); gone && errors.Is(err, ErrEnded) {
		if fault := p.Killed(p.command.name(), p.command.Memory); fault != nil {
			return nil, fault
		}
		err = fmt.Errorf("%w (%v)", err, p.State)
		if last := p.command.Stderr.LastLine(); last != "" {
			err = fmt.Errorf("%w: %s", err, last)
		}
	}
	return nil, err
}
