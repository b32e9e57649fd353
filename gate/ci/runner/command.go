package runner

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"pawl/internal/escape"
	"pawl/internal/process"
)

// find returns a command with the path of its program, so that a program that is not there is
// known before anything is woken, and another folder later makes no difference.
func find(words []string) ([]string, error) {
	program, err := exec.LookPath(words[0])
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FileName, err)
	}
	return append([]string{program}, words[1:]...), nil
}

// execute runs a command without a shell, for at most a time. What hangs is killed
// with all that it has started. The error has the end of what it printed.
func execute(ctx context.Context, words []string, limit time.Duration) error {
	output := &process.Output{Keep: mostOutput, Last: true}
	_, err := process.Run(ctx, process.Command{
		Line: words, Stdout: output, Stderr: output, Allowed: limit, KeepGroup: true, // it may start what is to stay
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, process.ErrTime):
		err = fmt.Errorf("it took longer than %s", limit)
	}
	if text := escape.Line(strings.TrimSpace(output.String())); text != "" {
		return fmt.Errorf("%s: %w: %s", escape.Line(escape.Shell(words...)), err, text)
	}
	return fmt.Errorf("%s: %w", escape.Line(escape.Shell(words...)), err)
}

// mostOutput is how much of what a command prints is kept for a message, in bytes.
const mostOutput = 2048

// pause waits, or less where the context ends.
func pause(ctx context.Context, wait time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
}
