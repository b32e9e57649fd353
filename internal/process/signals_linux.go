package process

import (
	"math"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// KeepSignals has the system refuse every signal that this process, or one that it starts,
// sends to others: a kernel that signals its parent, or everybody, would end the search. Only
// itself and its group are left. Where the system has no such filter, or the processor is
// not known here, nothing changes. Limit must have set no_new_privs.
func KeepSignals() {
	machine, known := machines[runtime.GOARCH]
	if !known {
		return
	}
	rules := machine.signalRules(uint32(os.Getpid()))
	program := unix.SockFprog{Len: uint16(len(rules)), Filter: &rules[0]}
	// Without the second flag older systems would also slow down the processor, against attacks
	// that read other processes.
	const flags = unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW
	_, _, _ = unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
}

// machine is how a filter sees system calls: the name of their machine, and from which number
// on they are another's.
type machine struct{ name, others uint32 }

var machines = map[string]machine{
	"amd64": {unix.AUDIT_ARCH_X86_64, 0x40000000},
	"arm64": {unix.AUDIT_ARCH_AARCH64, math.MaxUint32},
}

// Where a system call's number, its machine and the lower half of its first argument are for a filter.
const (
	callNumber    = 0
	callMachine   = 4
	firstArgument = 16
)

// signalRules is the filter, in the language of the system's packet filter.
func (m machine) signalRules(own uint32) []unix.SockFilter {
	const (
		load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		notLess = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		answer  = unix.BPF_RET | unix.BPF_K
	)
	allow := unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW}
	refuse := unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	rules := []unix.SockFilter{
		// A call in the way of another machine (32 bits on amd64) has other numbers.
		{Code: load, K: callMachine}, {Code: equal, K: m.name, Jt: 1}, refuse,
		{Code: load, K: callNumber}, {Code: notLess, K: m.others, Jf: 1}, refuse,
		{Code: equal, K: unix.SYS_PIDFD_SEND_SIGNAL, Jf: 1}, refuse,
	}
	senders := []uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO,
		unix.SYS_RT_TGSIGQUEUEINFO}
	for i, call := range senders {
		rules = append(rules, unix.SockFilter{Code: equal, K: call, Jt: uint8(len(senders) - i)}) // past the others and allow
	}
	rules = append(rules, allow, unix.SockFilter{Code: load, K: firstArgument})
	for _, receiver := range []uint32{own, 0, -own} { // itself, its group, by both names
		rules = append(rules, unix.SockFilter{Code: equal, K: receiver, Jf: 1}, allow)
	}
	return append(rules, refuse)
}
