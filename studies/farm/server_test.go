package farm

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"pawl/internal/postgrestest"
)

// A full disk is said to be one, and when there is room again, nothing was lost.
func TestAFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("a server of its own takes its time")
	}
	t.Parallel()
	server := postgrestest.StartOnSmallDisk(t, 32)
	url := server.Database(t)
	if err := Init(t.Context(), Options{URL: url, Version: "1"}); err != nil {
		t.Fatal(err)
	}
	asking, working := open(t, Options{URL: url, Version: "1"}), open(t, Options{URL: url, Version: "1"})
	s := begin(t, asking, "one")
	done := 0
	employ(t, working, "a", func(_ context.Context, job Job) (Answer, error) {
		done++
		return missing(job.Point), nil
	})
	if _, err := s.Ask(t.Context(), "q", task("before"), nil); err != nil {
		t.Fatal(err)
	}
	postgrestest.Exec(t, url, "CREATE TABLE public.filler AS SELECT repeat('x', 1000) FROM generate_series(1, 4000)")
	content, random := make([]byte, 1<<20), rand.NewChaCha8([32]byte{})
	var err error
	for i := 0; err == nil && i < 40; i++ {
		random.Read(content)
		_, err = asking.Put(t.Context(), content)
	}
	if err == nil || !strings.Contains(err.Error(), "the disk of the server of postgres:") {
		t.Fatalf("got %v", err)
	}
	postgrestest.Exec(t, url, "DROP TABLE public.filler")
	for _, name := range []string{"before", "after"} {
		if answer, err := s.Ask(t.Context(), "q", task(name), nil); err != nil || answer.Missing != name {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
	}
	if done != 2 {
		t.Errorf("2 tasks were done %d times", done)
	}
}
