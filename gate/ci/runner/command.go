package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"pawl/internal/escape"
	"pawl/objective/worker/process"
)

// lingering is how long what a finished command has left running may hold its output.
const lingering = time.Second

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
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(bounded, words[0], words[1:]...)
	// A group of its own: Ctrl-C is for this process, which decides what to do then.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		process.KillGroup(cmd.Process.Pid)
		return nil
	}
	cmd.WaitDelay = lingering
	var output tail
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // done; it left something running
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case bounded.Err() != nil:
		err = fmt.Errorf("it took longer than %s", limit)
	}
	if text := output.text(); text != "" {
		return fmt.Errorf("%s: %w: %s", escape.Line(escape.Shell(words...)), err, text)
	}
	return fmt.Errorf("%s: %w", escape.Line(escape.Shell(words...)), err)
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

const mostOutput = 2048

func (t *tail) Write(text []byte) (int, error) {
	t.kept = append(t.kept, text...)
	if len(t.kept) > mostOutput {
		t.kept = bytes.Clone(t.kept[len(t.kept)-mostOutput:])
	}
	return len(text), nil
}

// text is one line for a message.
func (t *tail) text() string { return escape.Line(strings.TrimSpace(string(t.kept))) }

// pause waits, or less where the context ends.
func pause(ctx context.Context, wait time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
}
