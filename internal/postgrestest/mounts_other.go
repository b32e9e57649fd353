//go:build !linux

package postgrestest

import "syscall"

// ownMounts is for Linux only: elsewhere the mount that follows fails, and the test is skipped.
func ownMounts() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
