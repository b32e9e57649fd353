package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// KillMarked kills every process with an entry NAME=value in its environment:
// children that left the process group. A process keeps the environment that it was
// started with.
func KillMarked(entry string) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		content, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(content, []byte(entry)) {
			continue // another user's process, or gone
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// Ended reports whether a child has ended that nobody has waited for yet.
func Ended(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	// The state follows the name, which is in brackets and may hold any character.
	state := status[bytes.LastIndexByte(status, ')')+1:]
	return bytes.HasPrefix(state, []byte(" Z")) || bytes.HasPrefix(state, []byte(" X"))
}
