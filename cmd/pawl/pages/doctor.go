package pages

import (
	"net/http"
	"path/filepath"
	"sync"
	"time"

	gates "pawl/gate/reporting"
	"pawl/objective/devices"
)

// probe looks at the machine, and remembers for a while what it found: compilers are started for it.
type probe struct {
	mu          sync.Mutex
	at          time.Time
	findings    []devices.Finding
	usable, gpu bool
}

const stale = 30 * time.Second

type doctorPage struct {
	Findings    []devices.Finding
	Usable, GPU bool
	When        time.Time
	// Cost is what the machine of the last gate run has taken; empty for unknown.
	Cost string
}

func (s *Server) doctor(r *http.Request) (page, error) {
	p := &s.probe
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.at) > stale {
		p.findings, p.usable, p.gpu = devices.Probe(r.Context(), s.options.Tools)
		if err := r.Context().Err(); err != nil {
			return page{}, err
		}
		p.at = time.Now()
	}
	data := doctorPage{
		Findings: p.findings,
		Usable:   p.usable,
		GPU:      p.gpu,
		When:     p.at,
	}
	if last, err := gates.Read(filepath.Join(filepath.Dir(s.options.Baseline), gates.JSONName)); err == nil &&
		last.Cost != nil {
		data.Cost = last.Cost.String()
	}
	return page{Title: "Doctor", Template: "doctor", Data: data}, nil
}
