package studies

import (
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"
)

// The kernel gives up a connection whose bytes nobody confirms, and asks idle ones whether they live.
func TestTheKernelGivesUp(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	config, err := pgx.ParseConfig("postgres://me@here/x")
	if err != nil {
		t.Fatal(err)
	}
	new(Network).Watch(config)
	conn, err := config.DialFunc(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*watchedConn).Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for option, want := range map[int]int{
		unix.TCP_USER_TIMEOUT: 30_000, unix.TCP_KEEPIDLE: 15, unix.TCP_KEEPINTVL: 5, unix.TCP_KEEPCNT: 3,
	} {
		var set int
		var failed error
		if err := raw.Control(func(descriptor uintptr) {
			set, failed = unix.GetsockoptInt(int(descriptor), unix.IPPROTO_TCP, option)
		}); err != nil || failed != nil || set != want {
			t.Errorf("option %d is %d, want %d (%v, %v)", option, set, want, err, failed)
		}
	}
}
