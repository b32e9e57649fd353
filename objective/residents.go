package objective

import (
	"sync"

	"pawl/objective/worker"
)

// residents are the workers that stay between trials, one per device.
type residents struct {
	mu   sync.Mutex
	idle map[string]*worker.Client
}

// take returns the device's worker, or starts one.
func (r *residents) take(slot Slot) (*worker.Client, error) {
	r.mu.Lock()
	client := r.idle[slot.Device]
	delete(r.idle, slot.Device)
	r.mu.Unlock()
	if client != nil {
		return client, nil
	}
	return worker.Start(slot.Worker)
}

// putBack keeps a worker for the next trial, unless a kernel has ended it or
// may have damaged what it remembers.
func (r *residents) putBack(s *session) {
	if s.client == nil {
		return
	}
	if s.distrusted || s.client.Finished() {
		s.close()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle == nil {
		r.idle = map[string]*worker.Client{}
	}
	r.idle[s.slot.Device] = s.client
}

// Refresh ends the workers that stay between trials: what is measured next is
// measured in a fresh process.
func (r *residents) Refresh() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for device, client := range r.idle {
		client.Close()
		delete(r.idle, device)
	}
}
