//go:build !linux

package postgrestest

import "syscall"

// ownMounts is for Linux only: elsewhere the mount that follows fails, and the test with it.
func ownMounts() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
