//go:build !linux

package process

import (
	"os/exec"
	"time"
)

// Start starts a process. What it leaves behind outside its group stays.
func Start(cmd *exec.Cmd) error { return cmd.Start() }

// KillOrphans does nothing where no process can be a subreaper.
func KillOrphans(int, bool) {}

// Adopted says no: there is no subreaper.
func Adopted() bool { return false }

// KillMarked does nothing where there is no /proc to search.
func KillMarked(string) []int { return nil }

// Reap does nothing: nobody is adopted.
func Reap(int) {}

// Ended says false: one must wait for the process to learn that.
func Ended(int) bool { return false }

// Limit does nothing where the system has other limits.
func Limit(uint64) {}

// LimitMemory does nothing where the system has other limits.
func LimitMemory(int, uint64) {}

// Memory is not known.
func Memory() uint64 { return 0 }

// KeepSignals does nothing where there is no filter of system calls.
func KeepSignals() {}

// GroupTime is not known where there is no /proc to search.
func GroupTime(int) (time.Duration, bool) { return 0, false }
