package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/internal/executable"
)

// cloud is a machine of scripts: the file awake is there while it is awake, the file log has
// a line for each command.
type cloud struct {
	*testing.T
	folder string
	Machine
	said []string
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	folder := t.TempDir()
	c := &cloud{T: t, folder: folder}
	c.script("wake", "touch awake")
	c.script("check", "[ -e awake ]")
	c.script("sleep", "rm -f awake")
	c.Machine = Machine{
		Config: &Config{
			Wake:  []string{filepath.Join(folder, "wake"), "an argument", "$(touch shell)"},
			Check: []string{filepath.Join(folder, "check")}, Sleep: []string{filepath.Join(folder, "sleep")},
			Price: 3.6, Currency: "EUR", Longest: time.Hour, Patience: time.Minute,
		},
		State: filepath.Join(folder, "state", "machine.json"), Guard: guard(), Pause: time.Millisecond,
		Say: func(text string) { c.said = append(c.said, text) },
	}
	t.Cleanup(c.noGuardLeft)
	return c
}

// script writes one of the three programs. It notes its call first.
func (c *cloud) script(name, body string) {
	c.Helper()
	// Written beside and renamed: a program that another process still has open for writing cannot start.
	path := filepath.Join(c.folder, name)
	text := fmt.Sprintf("#!/bin/sh\ncd %q\necho \"%s $*\" >> log\n%s\n", c.folder, name, body)
	if err := errors.Join(executable.Write(path+".new", text), os.Rename(path+".new", path)); err != nil {
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

func (c *cloud) state() State {
	c.Helper()
	s, err := readState(c.State)
	if err != nil {
		c.Fatal(err)
	}
	return s
}

// eventually waits for what must happen, however slow the machine.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !happened(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never happened: %s", what)
		}
	}
}

// gone reports whether a process has ended, also where nobody has waited for it yet.
func gone(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " Z ")
}

// noGuardLeft ends every test: the guard goes when the machine sleeps.
func (c *cloud) noGuardLeft() {
	s, err := readState(c.State)
	if err != nil || s.Guard == 0 {
		return
	}
	if s.Awake() {
		c.script("sleep", "true")
		if _, err := c.Machine.Sleep(context.Background()); err != nil {
			c.Error(err)
		}
	}
	eventually(c.T, "the guard ends", func() bool { return gone(s.Guard) })
}
