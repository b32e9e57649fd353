package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"pawl/gate/ci/runner"
)

// endGuards makes sure that a script leaves no guard behind, also one that fails half-way:
// a guard ends by itself when the machine sleeps, and is killed otherwise.
func endGuards(t *testing.T, folder string) {
	states, err := filepath.Glob(filepath.Join(folder, ".cache", "pawl", "machines", "*.json"))
	if err != nil {
		t.Error(err)
	}
	for _, path := range states {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		s, err := runner.ParseState(string(text))
		if err != nil || s.Guard == 0 {
			continue
		}
		if s.Awake() {
			if err := syscall.Kill(s.Guard, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				t.Error(err)
			}
			continue
		}
		for end := time.Now().Add(2 * time.Minute); !ended(s.Guard); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("guard %d is still there", s.Guard)
				break
			}
		}
	}
}

// ended reports whether a process is gone; one that nobody waits for stays as a zombie.
func ended(pid int) bool {
	program, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || runtime.GOOS == "linux" && (err != nil || program == "")
}
