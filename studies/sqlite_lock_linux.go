package studies

import "golang.org/x/sys/unix"

// lockCommand takes locks that belong to the open file, so that two stores in
// one process exclude each other too; waitCommand waits for them, askCommand only asks.
const (
	lockCommand = unix.F_OFD_SETLK
	waitCommand = unix.F_OFD_SETLKW
	askCommand  = unix.F_OFD_GETLK
)
