package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// mostFile is the largest file that a kernel may write, in bytes.
	mostFile = 4 << 30
	// mostProcesses is how many processes and threads there may be beside those
	// that run when Limit is called. Root has no such limit.
	mostProcesses = 2048
)

// Limit bounds what a kernel may take of the machine, and sets no_new_privs on this
// process and all that it starts, which nothing can unset. Memory is how many bytes
// may be allocated; 0 is any number. A limit that cannot be set is left out.
func Limit(memory uint64) {
	limit := func(resource int, most uint64) {
		var now unix.Rlimit
		if unix.Getrlimit(resource, &now) == nil && now.Max >= most {
			_ = unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most})
		}
	}
	limit(unix.RLIMIT_CORE, 0)
	limit(unix.RLIMIT_FSIZE, mostFile)
	if running := tasks(); running > 0 {
		limit(unix.RLIMIT_NPROC, running+mostProcesses)
	}
	if memory > 0 {
		limit(unix.RLIMIT_DATA, memory)
	}
	_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// limitMemory bounds how many bytes a process, and each that it has started and will start,
// may allocate. What cannot be set is left out.
func limitMemory(pid int, most uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}, nil)
	endFirst(pid)
	for _, child := range children(pid) { // from before: from now on they inherit it
		limitMemory(child, most)
	}
}

// endFirst has the system end a process, and those that it starts from now on, before all
// others when memory runs out: the search must not pay for a kernel's.
func endFirst(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("1000"), 0)
}

// Memory is how many bytes the machine has, 0 where it does not say.
func Memory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return uint64(info.Totalram) * uint64(info.Unit)
}

// tasks is how many processes and threads the machine runs, 0 where it does not say.
func tasks() uint64 {
	content, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(content))
	if err != nil || len(fields) < 4 {
		return 0
	}
	_, total, _ := strings.Cut(fields[3], "/")
	n, _ := strconv.ParseUint(total, 10, 64)
	return n
}
