package worker

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// household knows the workers of this process, and ends what they leave behind.
//
// A kernel can start a daemon that leaves the process group and forgets its
// environment. When its parents end, such a process becomes a child of this one,
// which asks for that. It carries the mark that confine sets, which no process can
// take off, and it is none of the workers: that is how it is known. Where this
// process carries the mark itself, the token in the environment must do.
var household = &workers{}

type workers struct {
	once   sync.Once
	marked bool // this process carries the mark
	mu     sync.RWMutex
	alive  map[int]bool
	list   sync.Mutex
}

// start starts a worker and counts it as one before anybody looks.
func (w *workers) start(cmd *exec.Cmd) error {
	w.once.Do(func() {
		mark, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
		w.marked = err != nil || mark != 0 || unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil
		w.alive = map[int]bool{}
	})
	w.mu.RLock()
	defer w.mu.RUnlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	w.list.Lock()
	defer w.list.Unlock()
	w.alive[cmd.Process.Pid] = true
	return nil
}

// end forgets a worker, if it has ended, and kills whatever has no other parent than
// this process now. What those have started in turn comes next.
func (w *workers) end(pid int, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if gone {
		delete(w.alive, pid)
	}
	if w.marked {
		return
	}
	for range 100 { // a daemon that forks faster than it is killed meets its limit of processes
		orphans := w.orphans()
		if len(orphans) == 0 {
			return
		}
		for _, orphan := range orphans {
			_ = unix.Kill(orphan, unix.SIGKILL)
		}
		for _, orphan := range orphans {
			reap(orphan)
		}
	}
}

// reap waits for a process that was killed, but not for ever.
func reap(pid int) {
	for range 1000 {
		if got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); got == pid || err == unix.ECHILD {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// orphans returns the children of this process that carry the mark and are no
// workers.
func (w *workers) orphans() []int {
	var found []int
	threads, _ := os.ReadDir("/proc/self/task")
	for _, thread := range threads {
		content, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
		if err != nil {
			continue
		}
		for _, field := range bytes.Fields(content) {
			pid, err := strconv.Atoi(string(field))
			if err == nil && !w.alive[pid] && isMarked(pid) && !slices.Contains(found, pid) {
				found = append(found, pid)
			}
		}
	}
	return found
}

func isMarked(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n"))
}
