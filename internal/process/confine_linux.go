//go:build amd64 || arm64

package process

import (
	"fmt"
	"os"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Confine leaves this process, before it loads code that nobody here has read, the system calls
// that such code needs: memory, threads, clocks, reading, and the descriptors that are open. All
// others fail, with the number that libraries expect where they try one. It lasts until the
// process ends, for all threads, and no signal handler can be set any more. Limit must have set
// no_new_privs. An error says why the system does not do it; nothing has changed then.
func Confine() error {
	time.Sleep(time.Nanosecond) // so that Go's runtime has what it waits with
	for number := range openFiles(os.Getpid()) {
		_ = unix.Close(number) // inherited, and of no use here
	}
	// It ends with the thread that started it, which lives as long as its process, also while it is paused.
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	rules := confinement(uint32(os.Getpid()))
	program := unix.SockFprog{Len: uint16(len(rules)), Filter: &rules[0]}
	// Without the second flag older systems would also slow down the processor, against attacks
	// that read other processes.
	const flags = unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags,
		uintptr(unsafe.Pointer(&program))); err != 0 {
		return fmt.Errorf("the system does not filter system calls: %w", err)
	}
	return nil
}

// Confines says whether Confine works here, without doing it.
func Confines() error {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0,
		uintptr(unsafe.Pointer(&action))); err != 0 {
		return fmt.Errorf("the system does not filter system calls: %w", err)
	}
	return nil
}

// harmless are the calls that reach nothing but this process, and those that only look.
var harmless = slices.Concat(machineHarmless, []uint32{
	unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_CLOCK_GETTIME, unix.SYS_READ, unix.SYS_WRITE,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY, unix.SYS_TIMES,
	unix.SYS_GETRUSAGE,
	unix.SYS_FUTEX_WAITV, unix.SYS_FUTEX_WAKE, unix.SYS_FUTEX_WAIT, unix.SYS_FUTEX_REQUEUE, unix.SYS_MEMBARRIER,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_SET_TID_ADDRESS, unix.SYS_RSEQ, unix.SYS_RESTART_SYSCALL,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_WAIT4, unix.SYS_WAITID,
	unix.SYS_BRK, unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_MSYNC, unix.SYS_MLOCK, unix.SYS_MUNLOCK,
	unix.SYS_MBIND, unix.SYS_SET_MEMPOLICY, unix.SYS_GET_MEMPOLICY,
	unix.SYS_GETRANDOM,
	unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
	unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETSCHEDULER,
	unix.SYS_SCHED_GET_PRIORITY_MAX, unix.SYS_SCHED_GET_PRIORITY_MIN, unix.SYS_GETCPU,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETPPID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID,
	unix.SYS_GETEGID, unix.SYS_GETPGID, unix.SYS_GETSID, unix.SYS_GETPRIORITY, unix.SYS_UNAME, unix.SYS_SYSINFO,
	unix.SYS_GETCWD,
	unix.SYS_READV, unix.SYS_PREAD64, unix.SYS_WRITEV, unix.SYS_LSEEK, unix.SYS_FSTAT, unix.SYS_FSTATFS,
	unix.SYS_STATFS, unix.SYS_STATX, unix.SYS_NEWFSTATAT, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2,
	unix.SYS_READLINKAT, unix.SYS_GETDENTS64, unix.SYS_FADVISE64, unix.SYS_GETRLIMIT,
	unix.SYS_PPOLL, unix.SYS_PSELECT6, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2,
})

const (
	// goThread are the flags of a thread that Go starts, and threadNumbers those that C libraries add; musl still says
	// that a thread is detached.
	goThread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM |
		unix.CLONE_THREAD
	threadNumbers = unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID

	forbidden = unix.EPERM
	// writing are the flags of a file that is opened for more than reading.
	writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC
)

// confinement is the filter of a process with a number, in the language of the system's packet
// filter. It ends with a refusal: what it does not name is not allowed.
func confinement(own uint32) []unix.SockFilter {
	rules := []unix.SockFilter{
		// A call in the way of another machine (32 bits on amd64) has other numbers.
		{Code: load, K: callMachine}, {Code: equal, K: machineName, Jt: 1}, refuse(forbidden),
		{Code: load, K: callNumber}, {Code: notLess, K: othersFrom, Jf: 1}, refuse(forbidden),
	}
	on := func(call uint32, body ...unix.SockFilter) {
		rules = append(append(rules, unix.SockFilter{Code: equal, K: call, Jf: uint8(len(body))}), body...)
	}
	for _, call := range harmless {
		on(call, allow)
	}
	// Nothing is writable and executable, or becomes executable: only files are mapped as code.
	on(unix.SYS_MMAP, unix.SockFilter{Code: load, K: argument(2)},
		unix.SockFilter{Code: anyBit, K: unix.PROT_EXEC, Jt: 1}, allow,
		unix.SockFilter{Code: anyBit, K: unix.PROT_WRITE, Jt: 2},
		unix.SockFilter{Code: load, K: argument(3)},
		unix.SockFilter{Code: anyBit, K: unix.MAP_ANONYMOUS, Jf: 1}, refuse(forbidden), allow)
	on(unix.SYS_MPROTECT, without(2, unix.PROT_EXEC, forbidden)...)
	on(unix.SYS_PKEY_MPROTECT, without(2, unix.PROT_EXEC, forbidden)...)
	on(unix.SYS_MREMAP, without(3, ^uint32(unix.MREMAP_MAYMOVE), forbidden)...)
	// Threads as C libraries and Go start them, and no processes. Another flag may stop who waits for the thread: with
	// that of vfork nobody can stop the process. The flags of clone3 are out of a filter's sight; libraries that do not
	// find it use clone.
	on(unix.SYS_CLONE, oneOf(0, goThread, goThread|threadNumbers, goThread|threadNumbers|unix.CLONE_DETACHED)...)
	on(unix.SYS_CLONE3, refuse(unix.ENOSYS))
	// Files are read, and only as long as more descriptors are allowed: see CloseFiles.
	on(unix.SYS_OPENAT, without(2, writing, unix.EACCES)...)
	on(unix.SYS_OPENAT2, refuse(unix.ENOSYS))
	on(unix.SYS_CLOSE, unix.SockFilter{Code: load, K: argument(0)},
		unix.SockFilter{Code: notLess, K: keptDescriptors, Jf: 1}, allow, refuse(forbidden))
	on(unix.SYS_FCNTL, oneOf(1, unix.F_GETFL, unix.F_GETFD, unix.F_SETFD)...)
	on(unix.SYS_IOCTL, refuse(unix.ENOTTY))
	// Signals reach this process and its group, which it is alone in. None ends a pause, and one that only others send
	// is no kernel's: whoever dies of it was killed from outside.
	for call, signal := range map[uint32]int{unix.SYS_KILL: 1, unix.SYS_TKILL: 1, unix.SYS_TGKILL: 2,
		unix.SYS_RT_SIGQUEUEINFO: 1, unix.SYS_RT_TGSIGQUEUEINFO: 2} {
		body := []unix.SockFilter{{Code: load, K: argument(signal)}}
		for _, refused := range append(slices.Clone(fromOutside), unix.SIGCONT) {
			body = append(body, unix.SockFilter{Code: equal, K: uint32(refused), Jf: 1}, refuse(forbidden))
		}
		on(call, append(body, oneOf(0, own, 0, -own)...)...)
	}
	// What can be asked and set is asked.
	on(unix.SYS_RT_SIGACTION, null(1)...)
	on(unix.SYS_PRLIMIT64, null(2)...)
	on(unix.SYS_PRCTL, oneOf(0, unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_VMA)...)
	// A thread may choose its own cores. For others nothing happens: their number may be any
	// process's, and a runtime that pins its threads gives up where it is refused.
	on(unix.SYS_SCHED_SETAFFINITY, unix.SockFilter{Code: load, K: argument(0)},
		unix.SockFilter{Code: equal, K: 0, Jf: 1}, allow, refuse(0))
	for _, call := range machineOpens {
		on(call, without(1, writing, unix.EACCES)...)
	}
	return append(rules, refuse(forbidden))
}

// Where a system call's number and its machine are for a filter, and what a filter does.
const (
	callNumber  = 0
	callMachine = 4

	load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	equal   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	notLess = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	anyBit  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	answer  = unix.BPF_RET | unix.BPF_K
)

var allow = unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW}

// refuse has the call fail with an error; with none it does nothing, and succeeds.
func refuse(with unix.Errno) unix.SockFilter {
	return unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(with)}
}

// argument is where the lower half of an argument is; the upper one is behind it.
func argument(n int) uint32 { return uint32(16 + 8*n) }

// without allows a call whose argument has none of the bits.
func without(n int, bits uint32, otherwise unix.Errno) []unix.SockFilter {
	return []unix.SockFilter{{Code: load, K: argument(n)}, {Code: anyBit, K: bits, Jf: 1}, refuse(otherwise), allow}
}

// oneOf allows a call whose argument is one of some values.
func oneOf(n int, values ...uint32) []unix.SockFilter {
	rules := []unix.SockFilter{{Code: load, K: argument(n)}}
	for _, value := range values {
		rules = append(rules, unix.SockFilter{Code: equal, K: value, Jf: 1}, allow)
	}
	return append(rules, refuse(forbidden))
}

// null allows a call whose argument is no pointer.
func null(n int) []unix.SockFilter {
	return []unix.SockFilter{
		{Code: load, K: argument(n)}, {Code: equal, K: 0, Jf: 3},
		{Code: load, K: argument(n) + 4}, {Code: equal, K: 0, Jf: 1}, allow,
		refuse(forbidden),
	}
}
