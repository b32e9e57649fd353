package postgrestest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Hole stands between clients and a server. It carries what they say until it falls silent: then
// it still takes connections and bytes, and nothing comes back or is closed.
type Hole struct {
	server   string
	listener net.Listener

	mu     sync.Mutex
	silent bool
	open   []net.Conn
}

// BlackHole returns a hole, and the URL of a database by way of it.
func BlackHole(t testing.TB, databaseURL string) (*Hole, string) {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &Hole{server: u.Host, listener: listener}
	u.Host = listener.Addr().String()
	var carrying sync.WaitGroup
	carrying.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			carrying.Go(func() { h.carry(client) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		h.mu.Lock()
		for _, conn := range h.open {
			conn.Close()
		}
		h.open = nil
		h.mu.Unlock()
		carrying.Wait()
	})
	return h, u.String()
}

// Fall makes the network silent. What was connected stays silent for ever.
func (h *Hole) Fall() { h.set(true) }

// Rise lets new connections through.
func (h *Hole) Rise() { h.set(false) }

func (h *Hole) set(silent bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.silent = silent
}

func (h *Hole) isSilent() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.silent
}

// keep remembers a connection, so that the test's end closes it.
func (h *Hole) keep(conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = append(h.open, conn)
}

func (h *Hole) carry(client net.Conn) {
	h.keep(client)
	if h.isSilent() {
		io.Copy(io.Discard, client) //nolint:errcheck // it ends with the test
		return
	}
	server, err := net.Dial("tcp", h.server)
	if err != nil {
		client.Close()
		return
	}
	h.keep(server)
	swallowed := &swallowing{hole: h}
	var both sync.WaitGroup
	for _, way := range []struct{ from, to net.Conn }{{client, server}, {server, client}} {
		both.Go(func() {
			swallowed.transfer(way.to, way.from)
			if !swallowed.now() {
				client.Close()
				server.Close()
			}
		})
	}
	both.Wait()
}

// swallowing is a connection, which never comes back from silence.
type swallowing struct {
	hole *Hole
	mu   sync.Mutex
	ever bool
}

func (s *swallowing) now() bool {
	silent := s.hole.isSilent()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ever = s.ever || silent
	return s.ever
}

func (s *swallowing) transfer(to io.Writer, from io.Reader) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if s.now() {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
