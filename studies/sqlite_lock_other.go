//go:build !linux

package studies

import "golang.org/x/sys/unix"

// lockCommand takes locks that belong to the process; waitCommand waits for them, askCommand only asks.
const (
	lockCommand = unix.F_SETLK
	waitCommand = unix.F_SETLKW
	askCommand  = unix.F_GETLK
)
