package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"pawl/studies/farm"
)

// figures are what a worker has done, in Prometheus' text format. It is thirty lines; the
// library would be more than all of this package.
type figures struct {
	mu      sync.Mutex
	jobs    map[farm.Action]int
	seconds map[farm.Action]float64
	refused int
}

func (f *figures) count(job farm.Job, took time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.jobs == nil {
		f.jobs, f.seconds = map[farm.Action]int{}, map[farm.Action]float64{}
	}
	if err != nil {
		f.refused++
		return
	}
	f.jobs[job.Action]++
	f.seconds[job.Action] += took.Seconds()
}

// ServeHTTP answers with the figures.
func (f *figures) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	actions := []farm.Action{farm.Describe, farm.DescribeBuild, farm.Compile, farm.Measure, farm.Verify, farm.Sample,
		farm.Look, farm.Hold}
	fmt.Fprint(w, "# HELP pawl_jobs_total Jobs whose answers were written.\n# TYPE pawl_jobs_total counter\n")
	for _, a := range actions {
		fmt.Fprintf(w, "pawl_jobs_total{action=%q} %d\n", a, f.jobs[a])
	}
	fmt.Fprint(w, "# HELP pawl_job_seconds_total Time spent on them.\n# TYPE pawl_job_seconds_total counter\n")
	for _, a := range actions {
		fmt.Fprintf(w, "pawl_job_seconds_total{action=%q} %g\n", a, f.seconds[a])
	}
	fmt.Fprint(w,
		"# HELP pawl_answers_refused_total Answers that were not written, because the job was another worker's by "+
			"then.\n# TYPE pawl_answers_refused_total counter\n")
	fmt.Fprintf(w, "pawl_answers_refused_total %d\n", f.refused)
}

// serve answers requests for /metrics at an address, until stop, and says where it listens; an empty address is
// nowhere.
func (f *figures) serve(address string) (at string, stop func(), err error) {
	if address == "" {
		return "", func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, fmt.Errorf("--metrics: %w", err)
	}
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", f)
	server := &http.Server{Handler: routes, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			listener.Close()
		}
	}()
	return listener.Addr().String(), func() {
		ending, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(ending) // what is left ends with the process
		<-done
	}, nil
}
