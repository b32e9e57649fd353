package worker

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// killStrays kills every process that carries a worker's token in its
// environment: children that the kernel started and that left the worker's
// process group. A process keeps the environment it was started with.
func killStrays(token string) {
	entry := []byte(tokenVariable + "=" + token)
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		content, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(content, entry) {
			continue // another user's process, or gone
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// ended reports whether a child has ended that nobody has waited for yet.
func ended(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	// The state follows the name, which is in brackets and may hold any character.
	state := status[bytes.LastIndexByte(status, ')')+1:]
	return bytes.HasPrefix(state, []byte(" Z")) || bytes.HasPrefix(state, []byte(" X"))
}
