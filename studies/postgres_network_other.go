//go:build !linux

package studies

import "syscall"

// limitUnconfirmed does nothing: only Linux has this limit for a single connection.
func limitUnconfirmed(string, string, syscall.RawConn) error { return nil }
