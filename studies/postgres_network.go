package studies

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// A network can fall silent: nothing arrives, and nothing says so. The kernel of this machine
// gives up connections whose packets nobody confirms (see limitUnconfirmed). That does not help
// where something in between confirms them, so who waits for an answer asks as well: after half
// of Silence without a byte, over a connection of its own. If that is not answered either, all
// connections to that server are given up, and what was being done fails as with any other
// lost connection.

// DefaultSilence is how long a server may be silent before somebody hears of it.
const DefaultSilence = 10 * time.Second

// Network is how a server is reached. It is shared by all connections to one database.
type Network struct {
	// Silence is how long a server may be silent before its connections are given up. Zero means DefaultSilence.
	Silence time.Duration
	// name is the database's, for a person.
	name string
	hear atomic.Pointer[func(string)]
	open sync.Map // *watchedConn

	mu    sync.Mutex
	since time.Time // when the silence began that somebody has heard of
}

// Watch makes all connections of a configuration notice silence.
func (n *Network) Watch(config *pgx.ConnConfig) {
	if n.Silence == 0 {
		n.Silence = DefaultSilence
	}
	n.name = postgresName(config)
	dialer := &net.Dialer{
		// As long as a connection that waits has nothing to confirm: 15 s, then a probe every 5 s.
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3},
		Control:         limitUnconfirmed,
	}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		watched := &watchedConn{Conn: conn, network: n, address: address, probe: func() error {
			return probe(dialer, network, address, n.Silence-n.Silence/2)
		}}
		n.open.Store(watched, nil)
		return watched, nil
	}
}

// unconfirmed is how long sent bytes may stay unconfirmed before the kernel gives up a connection.
const unconfirmed = 30 * time.Second

// Hear sets who hears that the server is silent, and that it answers again.
func (n *Network) Hear(hear func(string)) { n.hear.Store(&hear) }

func (n *Network) say(format string, arguments ...any) {
	if hear := n.hear.Load(); hear != nil && *hear != nil {
		(*hear)(fmt.Sprintf(format, arguments...))
	}
}

// silent gives up the connections to an address. It is said once, until the server answers again.
func (n *Network) silent(address string) {
	n.open.Range(func(key, _ any) bool {
		if c := key.(*watchedConn); c.address == address {
			c.givenUp.Store(true)
			c.Close() //nolint:errcheck // whoever reads or writes hears of it
		}
		return true
	})
	n.mu.Lock()
	first := n.since.IsZero()
	if first {
		n.since = time.Now().Add(-n.Silence)
	}
	n.mu.Unlock()
	if first {
		n.say("%s has not answered for %v: waiting for it", n.name, n.Silence)
	}
}

// answered notes that something arrived.
func (n *Network) answered() {
	n.mu.Lock()
	since := n.since
	n.since = time.Time{}
	n.mu.Unlock()
	if !since.IsZero() {
		n.say("%s answers again, after %v", n.name, time.Since(since).Round(time.Second))
	}
}

// probe asks a server whether it is there, which needs no user: the answer to a request for
// TLS is one byte, with or without TLS.
func probe(dialer *net.Dialer, network, address string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	// https://www.postgresql.org/docs/current/protocol-message-formats.html, SSLRequest
	if _, err := conn.Write([]byte{0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f}); err != nil {
		return err
	}
	_, err = io.ReadFull(conn, make([]byte, 1))
	return err
}

// silentError says that a connection was given up. It is a net.Error.
type silentError struct{ after time.Duration }

func (e *silentError) Error() string {
	return fmt.Sprintf("the server has not answered for %v", e.after)
}
func (*silentError) Timeout() bool   { return true }
func (*silentError) Temporary() bool { return true }

var _ net.Error = (*silentError)(nil)

// watchedConn is a connection that is given up when its server is silent.
type watchedConn struct {
	net.Conn
	network *Network
	address string
	probe   func() error
	// unanswered says that something was sent and nothing came since. A connection on which
	// something came may be one that waits for news: it is asked about once, until more comes.
	unanswered atomic.Bool
	asked      atomic.Bool
	givenUp    atomic.Bool
}

// Read waits for bytes of the server.
func (c *watchedConn) Read(to []byte) (int, error) {
	stop := c.watch()
	n, err := c.Conn.Read(to)
	stop()
	if n > 0 {
		c.unanswered.Store(false)
		c.asked.Store(false)
		c.network.answered()
	}
	return n, c.reason(err)
}

// Write sends bytes to the server.
func (c *watchedConn) Write(from []byte) (int, error) {
	c.unanswered.Store(true)
	stop := c.watch()
	n, err := c.Conn.Write(from)
	stop()
	return n, c.reason(err)
}

// Close ends the connection.
func (c *watchedConn) Close() error {
	c.network.open.Delete(c)
	return c.Conn.Close()
}

func (c *watchedConn) reason(err error) error {
	if err != nil && c.givenUp.Load() {
		return &silentError{c.network.Silence}
	}
	return err
}

// watch asks after the server until stop is called.
func (c *watchedConn) watch() (stop func()) {
	var mu sync.Mutex // for timer and stopped
	stopped := false
	var timer *time.Timer
	arm := func() {
		mu.Lock()
		defer mu.Unlock()
		if !stopped {
			timer.Reset(c.network.Silence / 2)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(c.network.Silence/2, func() {
		if !c.unanswered.Load() && c.asked.Swap(true) {
			return
		}
		if err := c.probe(); err == nil {
			arm()
			return
		}
		mu.Lock()
		over := stopped
		mu.Unlock()
		if over {
			return
		}
		c.network.silent(c.address)
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}
