package runner

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"pawl/internal/page"
)

const (
	// look is how often a guard looks whether it is still needed.
	look = 250 * time.Millisecond
	// again is how long a guard waits after a failure, and giveUp when it stops trying.
	again, giveUp = time.Minute, 24 * time.Hour
	// startTime is how long a guard may take to begin.
	startTime = time.Minute
)

// order is what a guard is told: everything that it needs, because the files of the job may be
// gone when the time comes.
type order struct {
	Sleep    []string      `json:"sleep"`
	State    string        `json:"state"`
	Token    string        `json:"token"`
	Deadline time.Time     `json:"deadline"`
	Patience time.Duration `json:"patience"`
}

// ready is what a guard answers when it has its order.
const ready = "ready"

// startGuard starts a guard that outlives this process, and returns when it is at work.
func (m Machine) startGuard(o order) (pid int, err error) {
	if len(m.Guard) == 0 {
		return 0, errors.New("no program is named for it")
	}
	text, err := json.Marshal(o)
	if err != nil {
		return 0, err
	}
	answer, to, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer answer.Close() // read only
	cmd := exec.Command(m.Guard[0], m.Guard[1:]...)
	cmd.Stdin, cmd.Stdout = bytes.NewReader(text), to
	// A session of its own, so that no terminal ends it; and without the mark by which
	// a runner of GitHub finds what a job has left behind.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Env = slices.DeleteFunc(os.Environ(),
		func(entry string) bool { return strings.HasPrefix(entry, "RUNNER_TRACKING_ID=") })
	err = errors.Join(cmd.Start(), to.Close())
	if err != nil {
		return 0, err
	}
	go func() { _ = cmd.Wait() }() // reaps it, should it end first; how does not matter
	if err := answer.SetReadDeadline(time.Now().Add(startTime)); err != nil {
		return 0, errors.Join(err, cmd.Process.Kill())
	}
	line, err := bufio.NewReader(answer).ReadString('\n')
	if strings.TrimSpace(line) != ready {
		return 0, errors.Join(fmt.Errorf("it does not begin: %q", line), err, ignoreGone(cmd.Process.Kill()))
	}
	return cmd.Process.Pid, nil
}

func ignoreGone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Keep is a guard. It reads its order, says that it is ready, and returns when the machine was
// put to sleep, when it was woken once more (which has a guard of its own), or when it has
// put the machine to sleep itself because its time is over.
func Keep(ctx context.Context, from io.Reader, to io.Writer) error {
	var o order
	if err := json.NewDecoder(from).Decode(&o); err != nil {
		return fmt.Errorf("reading the order of a guard: %w", err)
	}
	if _, err := fmt.Fprintln(to, ready); err != nil {
		return err
	}
	for ctx.Err() == nil && !o.done() {
		// By the clock on the wall: a machine that was suspended is late as it is.
		now := time.Now().Round(0)
		if now.Before(o.Deadline) {
			pause(ctx, min(look, o.Deadline.Sub(now)))
			continue
		}
		err := o.sleep(ctx)
		if err == nil || now.After(o.Deadline.Add(giveUp)) {
			return err
		}
		for wait := time.Duration(0); wait < again && ctx.Err() == nil && !o.done(); wait += look {
			pause(ctx, look)
		}
	}
	return ctx.Err()
}

// done reports whether nobody needs this guard any more. A state that is gone or damaged says
// nothing, and the guard stays.
func (o order) done() bool {
	s, err := readState(o.State)
	return err == nil && !s.Woke.IsZero() && (s.Token != o.Token || !s.Awake())
}

// sleep puts the machine to sleep, unless somebody else has, or has woken it meanwhile.
func (o order) sleep(ctx context.Context) (err error) {
	unlock, err := page.Lock(o.State)
	if err != nil {
		unlock = func() error { return nil } // no reason to leave it awake
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if o.done() {
		return nil
	}
	if err := execute(ctx, o.Sleep, o.Patience); err != nil {
		return err
	}
	s, err := readState(o.State)
	if err != nil || s.Token != o.Token {
		return err
	}
	s.Slept, s.Guarded = time.Now().UTC(), true
	return s.write(o.State)
}
