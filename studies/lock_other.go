//go:build !linux

package studies

import "golang.org/x/sys/unix"

// lockCommand takes locks that belong to the process.
const lockCommand = unix.F_SETLK
