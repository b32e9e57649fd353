package worker

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Residents are the workers that stay between trials, one per device, and those
// that stand by for rounds which each want a fresh one. Evaluators that share
// them measure in the same processes. The zero Residents is ready.
type Residents struct {
	mu     sync.Mutex
	idle   map[string]*Client
	spares map[string][]*Client
	// used are workers that have had their round. They end together, between
	// measurements, because the end of a process is work for the device.
	used   []*Client
	rounds bool
}

// standBy is how many workers are started at a time once rounds are measured.
// Starting is slow and no work for the device, so it is done side by side and
// before the measurements, which it must not disturb.
const standBy = 5

// Warm returns the source of these workers for one workload. Warm makes a fresh worker
// ready for it; what goes wrong there shows when the worker is used.
func (r *Residents) Warm(warm func(context.Context, Slot, *Client) error) Source {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle == nil {
		r.idle, r.spares = map[string]*Client{}, map[string][]*Client{}
	}
	return &residing{r, warm}
}

type residing struct {
	*Residents
	warm func(context.Context, Slot, *Client) error
}

// Take returns the device's worker, which has served others, or a fresh one. Devices do not wait for
// each other: each is reserved by one caller.
func (r *residing) Take(ctx context.Context, slot Slot, allowed time.Duration) (s *Session, err error) {
	r.mu.Lock()
	s = &Session{Client: r.idle[slot.Device], Slot: slot, Allowed: allowed}
	delete(r.idle, slot.Device)
	r.mu.Unlock()
	if s.served = s.Client != nil; s.served {
		return s, nil
	}
	s.Client, err = r.fresh(slot, func(c *Client) error { return r.warm(ctx, slot, c) })
	return s, err
}

// Return keeps a worker for the next trial, unless a kernel has ended it or may have
// damaged what it remembers.
func (r *residing) Return(s *Session) {
	if s.Client == nil {
		return
	}
	if s.distrusted || s.Client.Finished() {
		s.Client.Close()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle[s.Slot.Device] = s.Client
}

// fresh returns a worker that stands by, or starts one.
func (r *Residents) fresh(slot Slot, warm func(*Client) error) (*Client, error) {
	spare, rounds := r.spare(slot.Device)
	if !rounds {
		return startWarm(slot, warm)
	}
	if spare == nil {
		if err := r.start(slot, warm); err != nil {
			return nil, err
		}
		spare, _ = r.spare(slot.Device)
	}
	if spare.Alive() {
		return spare, nil
	}
	r.mu.Lock()
	r.used = append(r.used, spare) // it has died while it stood by
	r.mu.Unlock()
	return startWarm(slot, warm)
}

// spare takes a worker of a device that stands by, nil where there is none, and says whether rounds are
// measured.
func (r *Residents) spare(device string) (spare *Client, rounds bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if spares := r.spares[device]; r.rounds && len(spares) > 0 {
		spare, r.spares[device] = spares[0], spares[1:]
	}
	return spare, r.rounds
}

// startWarm returns a fresh worker that is ready for the workload: that is part of
// its start, and not of the first check. If it cannot be made ready, whoever uses
// it must learn why, in a worker that nothing has happened to yet.
func startWarm(slot Slot, warm func(*Client) error) (*Client, error) {
	client, err := Start(slot.Worker)
	if err != nil || warm(client) == nil {
		return client, err
	}
	client.Close()
	return Start(slot.Worker)
}

// start fills up the spares of a device.
func (r *Residents) start(slot Slot, warm func(*Client) error) error {
	r.endUsed()
	var failed error
	var wait sync.WaitGroup
	for range standBy {
		wait.Go(func() {
			client, err := startWarm(slot, warm)
			r.mu.Lock()
			defer r.mu.Unlock()
			if failed = errors.Join(failed, err); client != nil {
				r.spares[slot.Device] = append(r.spares[slot.Device], client)
			}
		})
	}
	wait.Wait()
	return failed
}

// Refresh retires the workers that stay between trials: what is measured next
// is measured in a fresh process.
func (r *Residents) Refresh() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rounds = true
	for device, client := range r.idle {
		r.used = append(r.used, client)
		delete(r.idle, device)
	}
}

// End ends every worker.
func (r *Residents) End() {
	r.Refresh()
	r.mu.Lock()
	for _, clients := range r.spares {
		r.used = append(r.used, clients...)
	}
	clear(r.spares)
	r.mu.Unlock()
	r.endUsed()
}

func (r *Residents) endUsed() {
	r.mu.Lock()
	used := r.used
	r.used = nil
	r.mu.Unlock()
	var wait sync.WaitGroup
	for _, client := range used {
		wait.Go(client.Close)
	}
	wait.Wait()
}
