package studies

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl/internal/postgrestest"
)

// heard are the notices about a network.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) hear(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, text)
}

func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.lines)
}

// overHole opens a store by way of a hole, with a short patience.
func overHole(t *testing.T, direct string) (*postgrestest.Hole, *Store, *heard) {
	t.Helper()
	hole, place := postgrestest.BlackHole(t, direct+"&connect_timeout=1")
	store := testEngines["postgres"].open(t, place)
	said := &heard{}
	store.Hear(said.hear)
	store.engine.(*postgres).network.Silence = 200 * time.Millisecond
	return hole, store, said
}

// A network that swallows everything without a word is noticed, said once, and waited for; when
// it carries again, nothing is lost and nothing is there twice.
func TestASilentNetworkIsNoticed(t *testing.T) {
	t.Parallel()
	direct := postgrestest.Database(t)
	hole, store, said := overHole(t, direct)
	id := begun(t, store)
	if err := recordTrials(store.Recorder(id), 0, 3); err != nil {
		t.Fatal(err)
	}
	hole.Fall()
	recorded := make(chan error, 1)
	go func() { recorded <- recordTrials(store.Recorder(id), 3, 6) }()
	for end := time.Now().Add(time.Minute); len(said.all()) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody heard of the silence")
		}
	}
	hole.Rise()
	// The server holds the study's lock for a connection whose end it has not noticed.
	postgrestest.Exec(t, direct, terminate)
	if err := <-recorded; err != nil {
		t.Fatal(err)
	}
	whole(t, store, id, "5")
	lines := said.all()
	if len(lines) != 2 || !strings.Contains(lines[0], "has not answered for 200ms: waiting for it") ||
		!strings.Contains(lines[1], "answers again, after") {
		t.Errorf("heard %q", lines)
	}
	for _, line := range lines {
		if strings.Contains(line, postgrestest.Password) {
			t.Errorf("the password was said: %q", line)
		}
	}
}

// A network that stays silent ends what was asked, in a sentence.
func TestASilenceThatLasts(t *testing.T) {
	t.Parallel()
	hole, store, _ := overHole(t, postgrestest.Database(t))
	store.reconnecting = time.Second
	id := begun(t, store)
	hole.Fall()
	err := recordTrials(store.Recorder(id), 0, 1)
	if err == nil || !strings.Contains(err.Error(), "the connection to postgres://") ||
		!strings.Contains(err.Error(), "was lost and did not come back within 1s") {
		t.Errorf("got %v", err)
	}
}

// A server that takes its time is no silent network: it answers who asks whether it is there.
func TestASlowAnswerIsWaitedFor(t *testing.T) {
	t.Parallel()
	_, store, said := overHole(t, postgrestest.Database(t))
	began := time.Now()
	if _, err := store.db.exec(t.Context(), "SELECT pg_sleep(1)"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < time.Second || len(said.all()) > 0 {
		t.Errorf("it took %v, heard %q", took, said.all())
	}
}
