package studies

import (
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnconfirmed lets the kernel give up a connection whose bytes stay unconfirmed. Its own
// limit is a quarter of an hour.
func limitUnconfirmed(network, _ string, raw syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var refused error
	err := raw.Control(func(descriptor uintptr) {
		refused = unix.SetsockoptInt(int(descriptor), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT,
			int(unconfirmed.Milliseconds()))
	})
	return errors.Join(err, refused)
}
