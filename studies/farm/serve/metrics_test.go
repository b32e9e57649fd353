package serve

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"pawl/studies/farm"
)

// Prometheus reads what a worker has done, and nothing else is served.
func TestMetrics(t *testing.T) {
	f := &figures{}
	for range 3 {
		f.count(farm.Job{Action: farm.Compile}, 500*time.Millisecond, nil)
	}
	f.count(farm.Job{Action: farm.Measure}, time.Second, errors.New("another's by then"))
	at, stop, err := f.serve("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	get := func(path string) (int, string) {
		response, err := http.Get("http://" + at + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	code, text := get("/metrics")
	for _, want := range []string{`pawl_jobs_total{action="compile"} 3`, `pawl_job_seconds_total{action="compile"} 1.5`,
		`pawl_jobs_total{action="measure"} 0`, "pawl_answers_refused_total 1"} {
		if code != http.StatusOK || !strings.Contains(text, want+"\n") {
			t.Errorf("%d, no %q in\n%s", code, want, text)
		}
	}
	if code, _ := get("/"); code != http.StatusNotFound {
		t.Errorf("/ is answered with %d", code)
	}
	if _, _, err := (&figures{}).serve("nowhere.invalid:x"); err == nil || !strings.Contains(err.Error(), "--metrics") {
		t.Errorf("%v", err)
	}
}
