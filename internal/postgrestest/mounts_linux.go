package postgrestest

import "syscall"

// ownMounts lets a process mount what nobody else sees.
func ownMounts() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Setpgid: true}
}
