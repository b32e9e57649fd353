package pages

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"pawl/internal/thorough"
	"pawl/search/trial"
	"pawl/studies"
)

// The limits of a page: what is slow depends on the machine and is measured by the
// benchmarks below, what is large does not.
const (
	largestPage   = 1_500_000
	largestUpdate = 500_000
)

// A study is ten thousand trials, in an everyday run some thousand.
func TestTenThousandTrials(t *testing.T) {
	if testing.Short() {
		t.Skip("records ten thousand trials")
	}
	t.Parallel()
	path, store := database(t)
	trials := thorough.Count(1500, 10000)
	id := add(t, store, head("attention", "chat", "CPU"), trials, true)
	s := serving(t, path)
	for _, address := range []string{"/studies/1", "/studies/1/trials", "/studies/1?x=PARAMETER_0&y=PARAMETER_3",
		fmt.Sprintf("/studies/1/trials/%d", trials-1), "/compare?study=1"} {
		began := time.Now()
		code, body, _ := get(t, s, address)
		t.Logf("%s: %d bytes in %v", address, len(body), time.Since(began).Round(time.Millisecond))
		if code != http.StatusOK || len(body) > largestPage {
			t.Errorf("%s: %d, %d bytes", address, code, len(body))
		}
	}
	update, _, err := s.update(context.Background(), id, studies.Pulse{})
	if err != nil || len(update) > largestUpdate || len(update) == 0 {
		t.Errorf("%d bytes, %v", len(update), err)
	}
	_, body, _ := get(t, s, "/studies/1")
	wants(t, body, "dots lie on others and are not drawn", "trials are drawn")
}

func TestFiveHundredStudies(t *testing.T) {
	if testing.Short() {
		t.Skip("records five hundred studies")
	}
	t.Parallel()
	path, store := database(t)
	for i := range 500 {
		add(t, store, head(fmt.Sprintf("kernel_%d", i), "small", "CPU"), 2, false)
	}
	s := serving(t, path)
	deadline := time.Now().Add(time.Minute)
	for {
		code, body, header := get(t, s, "/")
		if code != http.StatusOK || len(body) > largestPage || strings.Count(body, `"> <a href="/studies/`) != 500 {
			t.Fatalf("%d, %d bytes, %d rows", code, len(body), strings.Count(body, `"> <a href="/studies/`))
		}
		if header.Get("Refresh") == "" {
			wants(t, body, "unconfirmed")
			break
		}
		wants(t, body, "still being read")
		if time.Now().After(deadline) {
			t.Fatal("not all were read")
		}
		time.Sleep(10 * time.Millisecond)
	}
	_, list, _ := get(t, s, "/studies?kernel=kernel_7")
	wants(t, list, "1 study, newest first", `<a href="/studies/8">8</a>`)
}

// benchmarkServer has a study of ten thousand trials.
func benchmarkServer(b *testing.B) (*Server, int64) {
	path, store := database(b)
	id := add(b, store, head("attention", "chat", "CPU"), 10000, true)
	return serving(b, path), id
}

// BenchmarkStudyPage is the page of a study that was not asked for before.
func BenchmarkStudyPage(b *testing.B) {
	s, id := benchmarkServer(b)
	for b.Loop() {
		s.library.mu.Lock()
		delete(s.library.summaries, id)
		s.library.mu.Unlock()
		if code, _, _ := get(b, s, "/studies/1"); code != http.StatusOK {
			b.Fatal(code)
		}
	}
}

// BenchmarkStudyPageAgain is the same page once more.
func BenchmarkStudyPageAgain(b *testing.B) {
	s, _ := benchmarkServer(b)
	for b.Loop() {
		if code, _, _ := get(b, s, "/studies/1"); code != http.StatusOK {
			b.Fatal(code)
		}
	}
}

// BenchmarkLiveUpdate is what one more trial costs those who watch.
func BenchmarkLiveUpdate(b *testing.B) {
	path, store := database(b)
	id := add(b, store, head("attention", "chat", "CPU"), 9500, false)
	s := serving(b, path)
	recorder, rng := store.Recorder(id), rand.New(rand.NewPCG(5, 6))
	if _, _, err := s.update(context.Background(), id, studies.Pulse{}); err != nil {
		b.Fatal(err)
	}
	number := 9500 // there are 10,000 points
	for b.Loop() {
		b.StopTimer()
		trial := trial.Trial{Number: number, Point: pointOf(b, number)}
		if err := recorder.Started(trial); err != nil {
			b.Fatal(err)
		}
		trial.Outcome = outcome(rng, number)
		if err := recorder.Finished(trial); err != nil {
			b.Fatal(err)
		}
		number++
		b.StartTimer()
		if update, _, err := s.update(context.Background(), id, studies.Pulse{}); err != nil || update == "" {
			b.Fatal(err)
		}
	}
}

// BenchmarkHome is the home page of five hundred studies that were read before.
func BenchmarkHome(b *testing.B) {
	path, store := database(b)
	for i := range 500 {
		add(b, store, head(fmt.Sprintf("kernel_%d", i), "small", "CPU"), 20, false)
	}
	s := serving(b, path)
	for {
		if _, _, header := get(b, s, "/"); header.Get("Refresh") == "" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for b.Loop() {
		get(b, s, "/")
	}
}
