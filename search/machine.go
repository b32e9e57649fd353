package search

import (
	"context"
	"time"
)

// Machine is what a search runs on: compilers, devices and a clock. Options without one have
// this machine, where work is done by goroutines and time passes by itself. A simulation has one
// whose clock moves only while the search waits. One goroutine calls it.
type Machine interface {
	// Elapsed returns the time since the run began.
	Elapsed() time.Duration
	// Prepare does a compiler's work beside the search, as soon as one is free, and then calls
	// done. Work returns how long it has taken.
	Prepare(work func() time.Duration, done func())
	// Measure does a device's work in the same way. The search asks for no more at a time than Options.Width.
	Measure(work func() time.Duration, done func())
	// Wait returns when something is done that was not when Wait returned last. It returns true
	// when stop is closed before that, and an error when the context ends.
	Wait(ctx context.Context, stop <-chan struct{}) (stopped bool, err error)
}

type here struct {
	started time.Time
	lanes   chan struct{}
	// changed has room for one word that something is done.
	changed chan struct{}
}

func (h *here) Elapsed() time.Duration { return time.Since(h.started) }

func (h *here) Prepare(work func() time.Duration, done func()) {
	h.Measure(func() time.Duration {
		h.lanes <- struct{}{}
		defer func() { <-h.lanes }()
		return work()
	}, done)
}

func (h *here) Measure(work func() time.Duration, done func()) {
	go func() {
		work()
		done()
		select {
		case h.changed <- struct{}{}:
		default: // the word is there already
		}
	}()
}

func (h *here) Wait(ctx context.Context, stop <-chan struct{}) (stopped bool, err error) {
	select {
	case <-h.changed:
		return false, nil
	case <-stop: // a nil channel never answers
		return true, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}
