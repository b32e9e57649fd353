package pages

import (
	"bufio"
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	pages "pawl/internal/page"
	"pawl/objective"
	"pawl/search/trial"
	"pawl/studies"
)

// stream reads events until one of a kind has a part.
func stream(t *testing.T, lines *bufio.Scanner, event, part string) string {
	t.Helper()
	kind, data := "", ""
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "event: "):
			kind, data = strings.TrimPrefix(line, "event: "), ""
		case strings.HasPrefix(line, "data: "):
			data += strings.TrimPrefix(line, "data: ") + "\n"
		case line == "" && kind == event && strings.Contains(data, part):
			return data
		}
	}
	t.Fatalf("the stream ended before %s with %q: %v", event, part, lines.Err())
	return ""
}

// The store here and the server's are two, as two processes have them; the browser's test
// has real processes.
func TestEventsTellOfEachTrial(t *testing.T) {
	path, store := database(t)
	id := add(t, store, head("scale", "small", "CPU"), 5, false)
	s := serving(t, path)
	wants(t, mustGet(t, s, "/studies/1"),
		"has not ended: <code>pawl tune scale --workload small --resume --backend host</code> resumes it")
	unlock, err := store.Lock(id)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, mustGet(t, s, "/studies/1"), `data-events="/studies/1/events"`, "searching, 5 of 100 trials")
	if page := mustGet(t, s, "/studies/1"); strings.Contains(page, "ended") ||
		!strings.Contains(page, "<title>running · Study 1: scale, small") {
		t.Errorf("a running study has ended:\n%s", page)
	}
	wants(t, mustGet(t, s, "/"), "<td>running</td>")
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/studies/1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<22)
	stream(t, lines, "update", "searching, 5 of 100 trials")

	recorder := store.Recorder(id)
	tried := trial.Trial{Number: 5, Point: pointOf(t, 5)}
	if err := recorder.Started(tried); err != nil {
		t.Fatal(err)
	}
	stream(t, lines, "update", pointParts(t, 5)) // is being compiled
	tried.Outcome = outcome(rand.New(rand.NewPCG(3, 4)), 5)
	tried.Outcome.Samples = []float64{0.5, 0.5, 0.5}
	if err := recorder.Finished(tried); err != nil {
		t.Fatal(err)
	}
	// The default takes 2 ms.
	stream(t, lines, "update", "× the speed of the default, unconfirmed: <a href=\"/studies/1/trials/5\"")
	if err := recorder.Disqualified(5,
		&objective.Failure{Stage: objective.Fuzz, Reason: "wrong result", Detail: "at 7"}); err != nil {
		t.Fatal(err)
	}
	update := stream(t, lines, "update", "wrong result")
	if strings.Contains(update, "trials/5\"><code>") {
		t.Errorf("a wrong point is still the best:\n%s", update)
	}
	if err := store.Finish(ctx, id, trial.Conclusion{Ended: trial.TrialsDone}); err != nil {
		t.Fatal(err)
	}
	unlock()
	stream(t, lines, "ended", "reload")
	if lines.Scan() && lines.Text() != "" {
		t.Errorf("after the end: %q", lines.Text())
	}
}

func TestEventsSayWhatIsWrong(t *testing.T) {
	path, _ := database(t)
	s := serving(t, path)
	_, body, header := get(t, s, "/studies/9/events")
	if !strings.Contains(body, "event: problem") || !strings.Contains(body, "There is no such study") ||
		header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%s", body)
	}
	if code, _, _ := get(t, s, "/studies/x/events"); code != http.StatusBadRequest {
		t.Errorf("%d", code)
	}
}

func TestPhases(t *testing.T) {
	path, store := database(t)
	id := add(t, store, head("scale", "small", "CPU"), 20, true)
	s := serving(t, path)
	live, _, err := s.update(context.Background(), id, studies.Pulse{})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, live, "confirming the finalists in fresh processes, 8 of 10 rounds", `value="0.800"`)
	// A trial that the search abandoned is not being compiled.
	if err := store.Recorder(id).Started(trial.Trial{Number: 20, Point: pointOf(t, 20)}); err != nil {
		t.Fatal(err)
	}
	if live, _, err = s.update(t.Context(), id, studies.Pulse{}); err != nil {
		t.Fatal(err)
	}
	wants(t, live, "8 of 10 rounds", "<dt>compiling or measuring</dt><dd>nothing</dd>")
	_, pulse, err := s.update(context.Background(), id, studies.Pulse{})
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := s.update(context.Background(), id, pulse)
	if again != "" || err != nil {
		t.Errorf("nothing is new: %v, %q", err, again)
	}
}

// What is compared need not be a time, and a search may have a budget.
func TestLiveObjective(t *testing.T) {
	path, store := database(t)
	study := head("scale", "small", "CPU")
	study.Options.Budget = 90 * time.Second
	study.Environment.Objective = &pages.Objective{Quantity: pages.Quantity{Formula: "binary_size", Unit: "bytes"}}
	add(t, store, study, 12, false)
	id := add(t, store, study, 12, false)
	s := serving(t, path)
	live, _, err := s.update(context.Background(), id, studies.Pulse{})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, live, "of a budget of 1m30s", "2 bytes</text>")
	compared := mustGet(t, s, "/compare?study=1&study=2")
	for name, shown := range map[string]string{"live": live, "compare": compared} {
		if strings.Contains(shown, " ms</text>") || !strings.Contains(shown, " bytes</text>") {
			t.Errorf("%s shows a size as a time:\n%s", name, shown)
		}
	}
}

// A page that is left takes what was read for it along, and there are only so many live pages.
func TestStreamsEnd(t *testing.T) {
	path, store := database(t)
	id := add(t, store, head("scale", "small", "CPU"), 5, false)
	s := serving(t, path)
	w, leave := s.watch(id)
	if _, _, err := s.update(t.Context(), id, studies.Pulse{}); err != nil || len(w.trials) != 5 {
		t.Fatalf("%d trials were read, %v", len(w.trials), err)
	}
	if leave(); len(s.library.watched) != 0 {
		t.Error("nobody watches, and the study is still kept")
	}
	for range mostStreams {
		s.streams <- struct{}{}
	}
	if _, body, _ := get(t, s, "/studies/1/events"); !strings.Contains(body, "Too many pages are live at once") {
		t.Errorf("%s", body)
	}
}

// The number of a page may be anything.
func TestPagesBeyondTheLast(t *testing.T) {
	path, store := database(t)
	add(t, store, head("scale", "small", "CPU"), 5, false)
	s := serving(t, path)
	for _, number := range []string{"2", "1000", "922337203685477580", "9223372036854775807"} {
		wants(t, mustGet(t, s, "/studies/1/trials?page="+number), "trials/4")
	}
	says(t, s, "/studies/1/trials?page=9223372036854775808", http.StatusBadRequest, "is not the number of a page")
}
