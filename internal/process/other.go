//go:build !linux

package process

import (
	"errors"
	"os/exec"
	"time"
)

func start(cmd *exec.Cmd, _ *Access, _ <-chan struct{}) error { return cmd.Start() }

// Restricts says that nothing enforces an Access.
func Restricts() error { return errors.New("only Linux has Landlock") }

// waitFor waits for the end of a process. Only then its end is known, when its number may already
// be another's.
func waitFor(cmd *exec.Cmd, ended func()) error {
	err := cmd.Wait()
	ended()
	return err
}

// killDescendants does nothing where no process can be a subreaper, and there is no /proc.
func (p *Process) killDescendants(bool) {}

// isZombie says false: one must wait for the process to learn that.
func isZombie(int) bool { return false }

// Limit does nothing where the system has other limits.
func Limit(uint64) {}

func limitMemory(int, uint64) {}

// CloseFiles does nothing where there is no such limit from outside.
func (p *Process) CloseFiles() []string { return nil }

// OpenFiles does nothing.
func (p *Process) OpenFiles() {}

// Pause does nothing: there is no way into the memory of another process either.
func (p *Process) Pause() error { return errors.ErrUnsupported }

// Worked is not known.
func (p *Process) Worked() (time.Duration, bool) { return 0, false }

// Resume does nothing.
func (p *Process) Resume() {}

// rssUnit is how many bytes the unit is that the system reports a process's largest memory in.
const rssUnit = 1

// Memory is not known.
func Memory() uint64 { return 0 }

// OutOfMemoryKills is not known.
func OutOfMemoryKills() uint64 { return 0 }

// readUsage knows nothing.
func readUsage() (usage, bool) { return usage{}, false }

// groupTime is not known where there is no /proc to search.
func groupTime(int) (time.Duration, bool) { return 0, false }
