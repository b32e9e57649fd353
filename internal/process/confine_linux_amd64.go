package process

import "golang.org/x/sys/unix"

// The machine's name for a filter, and from which number on system calls are another's.
const (
	machineName = unix.AUDIT_ARCH_X86_64
	othersFrom  = 0x40000000
)

// machineHarmless are harmless calls that newer machines have no numbers for, and what sets
// registers of a thread: the matrix units must be asked for.
var machineHarmless = []uint32{
	unix.SYS_TIME, unix.SYS_ARCH_PRCTL, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS,
	unix.SYS_READLINK, unix.SYS_GETDENTS, unix.SYS_GETPGRP, unix.SYS_POLL, unix.SYS_SELECT,
	unix.SYS_EPOLL_WAIT, unix.SYS_PAUSE,
}

// machineOpens open a file, with flags as their second argument.
var machineOpens = []uint32{unix.SYS_OPEN}
