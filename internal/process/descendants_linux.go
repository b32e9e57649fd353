package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	disabled bool         // orphans cannot be distinguished from other children
	mu       sync.RWMutex // read by those who start processes, written by those who look for orphans
	list     sync.Mutex
	alive    map[int]*exec.Cmd
}

// start starts a process, restricted where there is an access, and lists it before anybody looks for orphans. Ended is
// closed when it has ended.
func start(cmd *exec.Cmd, access *Access, ended <-chan struct{}) error {
	s := &started
	s.once.Do(func() {
		conceal()
		flag, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
		s.disabled = err != nil || flag != 0 || unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil
		s.alive = map[int]*exec.Cmd{}
	})
	s.mu.RLock()
	defer s.mu.RUnlock()
	begin := func() error {
		runtime.LockOSThread() // what it starts inherits this thread's cores
		defer runtime.UnlockOSThread()
		renew()
		return cmd.Start()
	}
	var err error
	if access != nil {
		err = access.startRestricted(begin, ended)
	} else {
		err = begin()
	}
	if err != nil {
		return err
	}
	endFirst(cmd.Process.Pid)
	s.list.Lock()
	defer s.list.Unlock()
	s.alive[cmd.Process.Pid] = cmd
	return nil
}

// waitFor waits for the end of a process, says so while its number cannot be another's, and only
// then gives up the number.
func waitFor(cmd *exec.Cmd, ended func()) error {
	pid := cmd.Process.Pid
	for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	ended()
	err := cmd.Wait()
	started.mu.Lock()
	defer started.mu.Unlock()
	if started.alive[pid] == cmd { // else the next process has got the number
		delete(started.alive, pid)
	}
	return err
}

// killDescendants kills what a process has left behind outside its group. Gone says that the
// process itself is.
func (p *Process) killDescendants(gone bool) {
	s := &started
	s.mu.Lock()
	unlisted := s.disabled || len(unlistedChildren()) > 0
	s.mu.Unlock()
	if p.command.Contained && (unlisted || !gone) { // else nothing of it is left, and /proc is long
		p.killMarked()
	}
	if unlisted && !s.disabled {
		killOrphans()
	}
}

// killMarked kills every process with the token in its environment. A process keeps the
// environment that it was started with.
func (p *Process) killMarked() {
	var killed []int
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		if content, err := os.ReadFile(path); err != nil || !bytes.Contains(content, []byte(p.token)) {
			continue // another user's process, or gone
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
			p.command.Signal(pid)
			killed = append(killed, pid)
		}
	}
	for _, pid := range killed {
		if pid != p.Pid {
			reapOrphan(pid)
		}
	}
}

// killOrphans kills the orphans that this process has become the parent of. What those have
// started in turn comes next.
func killOrphans() {
	started.mu.Lock()
	defer started.mu.Unlock()
	for range 100 { // a daemon that forks faster than it is killed meets its limit of processes
		found := slices.DeleteFunc(unlistedChildren(), func(pid int) bool { return !hasNoNewPrivileges(pid) })
		if len(found) == 0 {
			return
		}
		for _, orphan := range found {
			_ = unix.Kill(orphan, unix.SIGKILL)
		}
		for _, orphan := range found {
			reapOrphan(orphan)
		}
	}
}

// reapOrphan waits for a process that was killed, but not for ever.
func reapOrphan(pid int) {
	for range 1000 {
		if got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); got == pid || err == unix.ECHILD {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// unlistedChildren returns the children of this process that start did not start: what its
// programs have left behind, and whatever was started in another way.
func unlistedChildren() []int {
	return slices.DeleteFunc(children(os.Getpid()), func(pid int) bool { return started.alive[pid] != nil })
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
			if child, err := strconv.Atoi(string(field)); err == nil && !slices.Contains(found, child) {
				found = append(found, child)
			}
		}
	}
	return found
}

func hasNoNewPrivileges(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n"))
}

// The fields of /proc/PID/stat that count here, by their place behind the name, and how many
// ticks a second has there on every architecture.
const (
	groupField     = 2
	firstTimeField = 11 // of four: user and system time, its own and that of children that have ended
	lastTimeField  = 14
	ticks          = 100
)

// groupTime is the processor time that the processes of a group have used so far, and whether
// the system says so.
func groupTime(group int) (used time.Duration, known bool) {
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		_, fields := stat(path)
		if len(fields) <= lastTimeField || fields[groupField] != strconv.Itoa(group) {
			continue
		}
		for _, field := range fields[firstTimeField : lastTimeField+1] {
			count, _ := strconv.ParseInt(field, 10, 64)
			used += time.Duration(count) * time.Second / ticks
		}
		known = true
	}
	return used, known
}

// isZombie reports whether a child has ended that nobody has waited for yet.
func isZombie(pid int) bool {
	_, fields := stat(fmt.Sprintf("/proc/%d/stat", pid))
	return len(fields) == 0 || fields[0] == "Z" || fields[0] == "X"
}

// stat returns the process's name in a file /proc/PID/stat, which is in brackets and may hold any
// character, and what comes behind it; nothing where the process is gone.
func stat(path string) (name string, fields []string) {
	content, _ := os.ReadFile(path)
	_, behind, _ := strings.Cut(string(content), "(")
	end := max(strings.LastIndexByte(behind, ')'), 0)
	return behind[:end], strings.Fields(strings.TrimPrefix(behind[end:], ")"))
}
