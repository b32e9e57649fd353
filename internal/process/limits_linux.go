package process

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

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

// keptDescriptors are those of the standard files and of a dialog, which a confined process
// cannot close.
const keptDescriptors = 5

// CloseFiles lets a confined process open no file any more, and returns what it has open beside
// its pipes and what its language's runtime needs. A limit does that, which the process cannot change: no number is
// left for a descriptor.
func (p *Process) CloseFiles() (left []string) {
	p.limitFiles(keptDescriptors)
	return slices.Sorted(maps.Values(openFiles(p.Pid)))
}

// openFiles are the descriptors of a process beside its pipes and what its language's runtime
// needs, with the names of their files; none where the system does not say.
func openFiles(pid int) map[int]string {
	open := map[int]string{}
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		number, err := strconv.Atoi(entry.Name())
		file, gone := os.Readlink(folder + "/" + entry.Name())
		if err == nil && gone == nil && number >= keptDescriptors && !runtimeFile(file) {
			open[number] = file
		}
	}
	return open
}

// OpenFiles takes CloseFiles back.
func (p *Process) OpenFiles() { p.limitFiles(math.MaxUint64) }

// limitFiles bounds the numbers of new descriptors, as far as the process may have such.
func (p *Process) limitFiles(most uint64) {
	var now unix.Rlimit
	if unix.Prlimit(p.Pid, unix.RLIMIT_NOFILE, nil, &now) == nil {
		_ = unix.Prlimit(p.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: min(most, now.Max), Max: now.Max}, nil)
	}
}

// runtimeFile reports whether a descriptor is one that Go's runtime keeps.
func runtimeFile(link string) bool {
	switch link {
	case "anon_inode:[eventpoll]", "anon_inode:[eventfd]":
		return true
	}
	return strings.HasPrefix(link, "/sys/fs/cgroup/") || strings.HasPrefix(link, "/proc/self/cgroup")
}

// own is what this process was given of the machine before it started another: what it starts
// gets the same, whoever has changed this process meanwhile.
var own struct {
	once     sync.Once
	cores    unix.CPUSet
	schedule *unix.SchedAttr
	limits   map[int]unix.Rlimit
}

// renew gives the calling thread, and so what it starts next, what this process had at first. What
// cannot be set is left out.
func renew() {
	own.once.Do(func() {
		_ = unix.SchedGetaffinity(0, &own.cores)
		own.schedule, _ = unix.SchedGetAttr(0, 0)
		own.limits = map[int]unix.Rlimit{}
		for resource := range unix.RLIMIT_RTTIME + 1 {
			var limit unix.Rlimit
			// That on files is the language's runtime's, which has it set back in what it starts.
			if resource != unix.RLIMIT_NOFILE && unix.Getrlimit(resource, &limit) == nil {
				own.limits[resource] = limit
			}
		}
	})
	if own.cores.Count() > 0 {
		_ = unix.SchedSetaffinity(0, &own.cores)
	}
	if own.schedule != nil {
		schedule := *own.schedule // the call writes to it
		_ = unix.SchedSetAttr(0, &schedule, 0)
	}
	for resource, limit := range own.limits {
		var now unix.Rlimit
		if unix.Getrlimit(resource, &now) == nil && now != limit {
			_ = unix.Setrlimit(resource, &limit)
		}
	}
}

// rssUnit is how many bytes the unit is that the system reports a process's largest memory in.
const rssUnit = 1024

// Memory is how many bytes the machine has, or the control group that this process is in; 0 where it does not say.
func Memory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return min(uint64(info.Totalram)*uint64(info.Unit), groupMemory())
}

// groupMemory is the least that a control group allows which this process is in, of the first or the second kind.
var groupMemory = sync.OnceValue(func() uint64 {
	least := uint64(math.MaxUint64)
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if parts[0] != "0" {
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		if parts[0] != "0" && parts[1] != "memory" {
			continue
		}
		for folder := parts[2]; ; folder = filepath.Dir(folder) { // a container may see its own group as the root
			content, _ := os.ReadFile(filepath.Join(root, folder, file))
			if limit, err := strconv.ParseUint(strings.TrimSpace(string(content)), 10, 64); err == nil {
				least = min(least, limit)
			}
			if folder == "/" || folder == "." {
				break
			}
		}
	}
	return least
})

// OutOfMemoryKills counts the processes that the system has ended so far because memory ran out; 0 where it does not
// say.
func OutOfMemoryKills() (count uint64) {
	content, _ := os.ReadFile("/proc/vmstat")
	for line := range strings.Lines(string(content)) {
		if number, found := strings.CutPrefix(line, "oom_kill "); found {
			count, _ = strconv.ParseUint(strings.TrimSpace(number), 10, 64)
		}
	}
	return count
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
