package process

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A kernel can start a daemon that leaves the process group and forgets its
// environment. When its parents end, such a process becomes a child of this one, the
// subreaper. It has no_new_privs, which Limit sets and no process can unset, and it
// was not started by Start: that is how it is known. Where this process has
// no_new_privs itself, the token in the environment must do.
var started struct {
	once     sync.Once
	disabled bool // orphans cannot be distinguished from other children
	mu       sync.RWMutex
	list     sync.Mutex
	alive    map[int]bool
}

// Start starts a process and lists it before anybody looks for orphans.
func Start(cmd *exec.Cmd) error {
	s := &started
	s.once.Do(func() {
		flag, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
		s.disabled = err != nil || flag != 0 || unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil
		s.alive = map[int]bool{}
	})
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	endFirst(cmd.Process.Pid)
	s.list.Lock()
	defer s.list.Unlock()
	s.alive[cmd.Process.Pid] = true
	return nil
}

// KillOrphans forgets a process of Start, if it is gone, and kills the orphans that
// this process has become the parent of. What those have started in turn comes next.
func KillOrphans(pid int, gone bool) {
	s := &started
	s.mu.Lock()
	defer s.mu.Unlock()
	if gone {
		delete(s.alive, pid)
	}
	if s.disabled {
		return
	}
	for range 100 { // a daemon that forks faster than it is killed meets its limit of processes
		found := orphans()
		if len(found) == 0 {
			return
		}
		for _, orphan := range found {
			_ = unix.Kill(orphan, unix.SIGKILL)
		}
		for _, orphan := range found {
			Reap(orphan)
		}
	}
}

// Reap waits for a process that was killed, but not for ever.
func Reap(pid int) {
	for range 1000 {
		if got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); got == pid || err == unix.ECHILD {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// orphans returns the children of this process that have no_new_privs and that Start
// did not start.
func orphans() []int {
	return slices.DeleteFunc(strangers(), func(pid int) bool { return !noNewPrivileges(pid) })
}

// Adopted reports whether this process may have become the parent of something that it did
// not start: what a process of Start has left behind, and whatever was started in another way.
// It is much cheaper than to look for that.
func Adopted() bool {
	started.mu.Lock()
	defer started.mu.Unlock()
	return started.disabled || len(strangers()) > 0
}

// strangers returns the children of this process that Start did not start.
func strangers() []int {
	return slices.DeleteFunc(children(os.Getpid()), func(pid int) bool { return started.alive[pid] })
}

// children returns what the threads of a process have started and nobody has waited for.
func children(pid int) []int {
	var found []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		content, err := os.ReadFile(list)
		if err != nil {
			continue // a thread that has ended
		}
		for _, field := range bytes.Fields(content) {
			child, err := strconv.Atoi(string(field))
			if err == nil && !slices.Contains(found, child) {
				found = append(found, child)
			}
		}
	}
	return found
}

func noNewPrivileges(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n"))
}

// KillMarked kills every process with an entry NAME=value in its environment:
// children that left the process group. A process keeps the environment that it was
// started with. It returns those that it has killed.
func KillMarked(entry string) (killed []int) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		content, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(content, []byte(entry)) {
			continue // another user's process, or gone
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			killed = append(killed, pid)
		}
	}
	return killed
}

// Ended reports whether a child has ended that nobody has waited for yet.
func Ended(pid int) bool {
	fields := stat(fmt.Sprintf("/proc/%d/stat", pid))
	return len(fields) == 0 || string(fields[0]) == "Z" || string(fields[0]) == "X"
}

// stat returns what a file /proc/PID/stat says behind the process's name, which is in brackets
// and may hold any character; nothing where the process is gone.
func stat(path string) [][]byte {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return bytes.Fields(content[bytes.LastIndexByte(content, ')')+1:])
}
