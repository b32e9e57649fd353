package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/internal/kerneltest"
)

// cloud is a machine of scripts: the file awake is there while it is awake, the file log has
// a line for each command.
type cloud struct {
	*Config
	*testing.T
	folder string
	said   []string
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	folder := t.TempDir()
	c := &cloud{T: t, folder: folder, Config: &Config{
		Wake:  []string{filepath.Join(folder, "wake"), "an argument", "$(touch shell)"},
		Check: []string{filepath.Join(folder, "check")}, Sleep: []string{filepath.Join(folder, "sleep")},
		Price: 3.6, Currency: "EUR", Longest: time.Hour, Patience: time.Minute, pause: time.Millisecond,
	}}
	c.script("wake", "touch awake")
	c.script("check", "[ -e awake ]")
	c.script("sleep", "rm -f awake")
	return c
}

func (c *cloud) say(text string) { c.said = append(c.said, text) }

// script writes one of the three programs. It notes its call first.
func (c *cloud) script(name, body string) {
	c.Helper()
	// Written beside and renamed: a program that another process still has open for writing cannot start.
	path := filepath.Join(c.folder, name)
	text := fmt.Sprintf("#!/bin/sh\ncd %q\necho \"%s $*\" >> log\n%s\n", c.folder, name, body)
	if err := errors.Join(kerneltest.WriteProgram(path+".new", text), os.Rename(path+".new", path)); err != nil {
		c.Fatal(err)
	}
}

func (c *cloud) there(name string) bool {
	_, err := os.Stat(filepath.Join(c.folder, name))
	return err == nil
}

// count is how often a command ran.
func (c *cloud) count(name string) int {
	log, err := os.ReadFile(filepath.Join(c.folder, "log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.Fatal(err)
	}
	return strings.Count("\n"+string(log), "\n"+name+" ")
}

func TestWakeAndSleep(t *testing.T) {
	c := newCloud(t)
	c.script("check", "[ $(grep -c ^check log) -ge 4 ]") // it answers late
	a, err := c.Start(t.Context(), c.say)
	if err != nil || !c.there("awake") || c.there("shell") || a.Woke.IsZero() || c.count("check") != 4 {
		t.Errorf("%+v, %v after %d checks", a, err, c.count("check"))
	}
	log, _ := os.ReadFile(filepath.Join(c.folder, "log"))
	if !strings.HasPrefix(string(log), "wake an argument $(touch shell)\n") {
		t.Errorf("a shell has read the command: %s", log)
	}
	for range 2 { // once too often costs nothing
		if err := c.Stop(t.Context(), c.say); err != nil || c.there("awake") {
			t.Error(err)
		}
	}
}

// Whatever goes wrong, the machine is asleep in the end, and the message says why it did not
// wake.
func TestWakingFails(t *testing.T) {
	for name, test := range map[string]struct {
		program, body string
		patience      time.Duration // long enough for what must succeed
		want          string
	}{
		"the command fails": {"wake", "touch awake; echo no capacity >&2; exit 7", time.Minute, "no capacity"},
		"the command hangs": {"wake", "touch awake; sleep 600 & sleep 600", time.Second, "longer than"},
		"it never answers":  {"check", "echo 'no route'; exit 1", time.Second, "no route"},
		"the check hangs":   {"check", "sleep 600", time.Second, "does not answer"},
		"a hostile message": {"wake", "printf '\\033[31m##[error]\\n::error::x'; exit 1", time.Minute,
			`\x1b[31m##\u005berror]\n::error::x`},
	} {
		c := newCloud(t)
		c.script(test.program, test.body)
		c.Patience = test.patience
		_, err := c.Start(t.Context(), c.say)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "put to sleep again") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if c.count("sleep") != 1 || c.there("awake") {
			t.Errorf("%s: it is awake", name)
		}
	}
}

// The user stops the wait: the machine sleeps before Start returns.
func TestStoppedWhileWaking(t *testing.T) {
	c := newCloud(t)
	c.script("check", "touch checked; exit 1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for !c.there("checked") && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err := c.Start(ctx, c.say); !errors.Is(err, context.Canceled) || c.there("awake") {
		t.Error(err)
	}
}

// Nothing is woken that could not be put to sleep.
func TestNothingIsWoken(t *testing.T) {
	for _, spoil := range []func(*cloud){
		func(c *cloud) { c.Sleep = []string{"/nowhere/stop"} },
		func(c *cloud) { c.Check = []string{"no-such-program-of-pawl"} },
	} {
		c := newCloud(t)
		spoil(c)
		if _, err := c.Start(t.Context(), c.say); err == nil || !strings.Contains(err.Error(), "nothing was woken") ||
			c.count("wake") != 0 {
			t.Error(err)
		}
	}
}

// Putting it to sleep is tried again; where that does not help, the message says what it costs
// and what to do.
func TestSleepFails(t *testing.T) {
	c := newCloud(t)
	c.script("sleep", "[ $(grep -c ^sleep log) -ge 3 ]")
	if err := c.Stop(t.Context(), c.say); err != nil || len(c.said) != 2 {
		t.Errorf("%v, said %q", err, c.said)
	}
	c.script("sleep", "echo broken; exit 1")
	if err := c.Stop(t.Context(), c.say); err == nil ||
		!strings.Contains(err.Error(), "MAY STILL BE AWAKE, at 3.60 EUR an hour") ||
		!strings.Contains(err.Error(), "broken") {
		t.Error(err)
	}
	c.script("sleep", "sleep 600")
	c.Patience = 20 * time.Millisecond
	if err := c.Stop(t.Context(), c.say); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Error(err)
	}
}

// A guard ends when the machine does not answer any more, and puts it to sleep when its time
// is over.
func TestGuard(t *testing.T) {
	c := newCloud(t)
	c.script("check", "[ $(grep -c ^check log) -lt 4 ]")
	if err := c.Guard(t.Context(), time.Now(), c.say); err != nil || c.count("check") != 6 || c.count("sleep") != 0 {
		t.Errorf("%v, %d checks", err, c.count("check"))
	}
	c.script("check", "true")
	if err := c.Guard(t.Context(), time.Now().Add(50*time.Millisecond-time.Hour), c.say); err != nil ||
		c.count("sleep") != 1 {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Guard(ctx, time.Now(), c.say); !errors.Is(err, context.Canceled) || c.count("sleep") != 1 {
		t.Error(err)
	}
}

// Nothing waits for what a command leaves running, and nothing ends it.
func TestCommandLeavesSomethingRunning(t *testing.T) {
	c := newCloud(t)
	c.script("wake", "touch awake; (while [ ! -e end ]; do sleep 0.05; done; touch ended) &")
	if _, err := c.Start(t.Context(), c.say); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.folder, "end"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); !c.there("ended"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it was ended")
		}
	}
}
