package studies

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pawl/internal/postgrestest"
	"pawl/internal/thorough"
)

// terminate ends all connections to a database but the one that says so.
const terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND " +
	"pid <> pg_backend_pid()"

// A study whose connections the server ends, again and again, records every trial once, and is
// still the only one that runs it.
func TestALostConnectionLosesNothing(t *testing.T) {
	t.Parallel()
	place := postgrestest.Database(t)
	store := testEngines["postgres"].open(t, place)
	id := begun(t, store)
	const trials = 60
	recorded := make(chan error, 1)
	go func() { recorded <- recordTrials(store.Recorder(id), 0, trials) }()
	lost := 0
	for done := false; !done; {
		select {
		case err := <-recorded:
			if done = true; err != nil {
				t.Fatal(err)
			}
		case <-time.After(10 * time.Millisecond):
			postgrestest.Exec(t, place, terminate)
			lost++
		}
	}
	if lost == 0 {
		t.Error("no connection was lost")
	}
	// which takes the lock again, should it be gone
	if err := recordTrials(store.Recorder(id), trials, trials+1); err != nil {
		t.Fatal(err)
	}
	whole(t, store, id, fmt.Sprint(trials))
	other := testEngines["postgres"].open(t, place)
	if _, err := other.Lock(id); !errors.Is(err, ErrBusy) {
		t.Errorf("the lock was lost with a connection: %v", err)
	}
}

// A study whose connections the server ends while it is read is read as it is, and each row once.
func TestALostConnectionIsReadAgain(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	place := server.Database(t)
	store := testEngines["postgres"].open(t, place)
	id := begun(t, store)
	const trials = 40
	if err := recordTrials(store.Recorder(id), 0, trials); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	stop := make(chan struct{})
	reading.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				postgrestest.Exec(t, place, terminate)
			}
		}
	})
	read := func() error {
		past, err := store.Past(t.Context(), id)
		all, err2 := store.List(t.Context())
		pulse, err3 := store.Pulse(t.Context(), id)
		if err := errors.Join(err, err2, err3); err != nil {
			return err
		}
		if len(past.Trials) != trials || len(all) != 1 || pulse.Trials != trials {
			return fmt.Errorf("%d trials, %d studies, %+v", len(past.Trials), len(all), pulse)
		}
		return nil
	}
	for range thorough.Count(20, 100) {
		if err := read(); err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	reading.Wait()
	server.Stop(t) // and one that is away is waited for
	done := make(chan error, 1)
	go func() { done <- read() }()
	time.Sleep(50 * time.Millisecond) // so that it finds nobody at first
	server.Restart(t)
	if err := <-done; err != nil {
		t.Error(err)
	}
	server.Stop(t)
	store.reconnecting = 200 * time.Millisecond
	if err := read(); err == nil || !strings.Contains(err.Error(), "did not come back within 200ms") {
		t.Errorf("got %v", err)
	}
}

// wire stands between a client and the server, and cuts a connection at its worst moment: when
// the server has committed and the client does not know it yet.
type wire struct {
	server string
	// cuts are still to be made.
	cuts atomic.Int32
}

// newWire returns the URL of a database by way of the wire.
func newWire(t *testing.T, place string) (*wire, string) {
	t.Helper()
	u, err := url.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	w := &wire{server: u.Host}
	u.Host = listener.Addr().String()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go w.carry(client)
		}
	}()
	return w, u.String()
}

func (w *wire) carry(client net.Conn) {
	server, err := net.Dial("tcp", w.server)
	if err != nil {
		client.Close()
		return
	}
	var committing atomic.Bool
	go func() {
		defer server.Close()
		transfer(server, client, func(sent []byte) bool {
			committing.Store(bytes.Contains(sent, []byte("commit")))
			return true
		})
	}()
	defer client.Close()
	transfer(client, server, func([]byte) bool { return !committing.Load() || w.cuts.Add(-1) < 0 })
}

// transfer copies while pass says so.
func transfer(to io.Writer, from io.Reader, pass func([]byte) bool) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if err != nil || !pass(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// A commit whose answer was lost is not done a second time.
func TestACommitWithoutAnAnswerIsNotRepeated(t *testing.T) {
	t.Parallel()
	cable, place := newWire(t, postgrestest.Database(t))
	store := testEngines["postgres"].open(t, place)
	id, err := store.Create(t.Context(), exampleStudy())
	if err != nil {
		t.Fatal(err)
	}
	for what, write := range map[string]func() error{
		"created": func() error { _, err := store.Create(t.Context(), exampleStudy()); return err },
		"gated":   func() error { return store.Gated(t.Context(), id, exampleGating()) },
		"told":    func() error { return recordTrials(store.Recorder(id), 0, 1) },
	} {
		cable.cuts.Store(2)
		if err := write(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if left := cable.cuts.Load(); left >= 2 {
			t.Errorf("%s: nothing was cut", what)
		}
		cable.cuts.Store(0)
	}
	all, err := store.List(t.Context())
	gatings, err2 := store.Gatings(t.Context(), id)
	if err := errors.Join(err, err2); err != nil || len(all) != 2 || len(gatings) != 1 {
		t.Errorf("%d studies, %d gatings, %v", len(all), len(gatings), err)
	}
	whole(t, store, id, "0")
}
