package objective

import (
	"context"
	"errors"
	"time"

	"pawl/objective/worker"
)

// session is a worker process with the time allowed per call.
// It separates what the kernel did (a fault) from what broke (an error).
type session struct {
	client  *worker.Client
	slot    Slot
	allowed time.Duration
	// distrusted says that a kernel wrote where it must not, so that what the
	// worker remembers may be damaged too, or that a call failed for a reason
	// that may stay with the worker: a reference can break its device as well.
	distrusted bool
	// damaged says that memory was found changed that no kernel may change, and
	// served that other kernels have used the worker before this one: then it may
	// have been one of them.
	damaged, served bool
	// evidence collects what passes; nil where nobody asks for it.
	evidence *Evidence
	// loading is how long it took to get the kernel to a device that keeps things.
	loading time.Duration
}

func (s *session) distrust() { s.distrusted = true }

// found distrusts the worker for damage, and notes whether another kernel may have
// done it.
func (s *session) found(damage *worker.Fault) {
	s.distrust()
	s.damaged = s.damaged || damage.Kind == worker.OutOfBounds || damage.Kind == worker.InputModified
}

func (s *session) close() {
	if s.client != nil {
		s.client.Close()
	}
}

func (s *session) load(ctx context.Context, load worker.Load) (*worker.Fault, error) {
	ctx, cancel := worker.Allow(ctx, s.allowed)
	defer cancel()
	return s.split(s.client.Load(ctx, load))
}

// check takes steps on a device that compares by itself. At is the step that a
// fault belongs to.
func (s *session) check(ctx context.Context, steps []worker.Step, judge func(int, worker.Result) bool) (at int, fault *worker.Fault, err error) {
	at, err = s.client.Check(ctx, s.allowed, steps, judge)
	fault, err = s.split(err)
	return at, fault, err
}

func (s *session) run(ctx context.Context, run worker.Run) (worker.Result, *worker.Fault, error) {
	ctx, cancel := worker.Allow(ctx, s.allowed)
	defer cancel()
	result, err := s.client.Run(ctx, run)
	fault, err := s.split(err)
	return result, fault, err
}

func (s *session) time(ctx context.Context, t worker.Time) (worker.Timing, *worker.Fault, error) {
	// A chunk of samples is many runs; none of them was slow in the check.
	ctx, cancel := worker.Allow(ctx, s.allowed*time.Duration(t.Samples+1))
	defer cancel()
	timing, err := s.client.Time(ctx, t)
	fault, err := s.split(err)
	if fault == nil && timing.Damage != nil {
		s.found(timing.Damage)
		fault = timing.Damage
	}
	return timing, fault, err
}

func (s *session) arrange(ctx context.Context, a worker.Arrange) (*worker.Fault, error) {
	ctx, cancel := worker.Allow(ctx, s.allowed)
	defer cancel()
	return s.split(s.client.Arrange(ctx, a))
}

func (s *session) collect(ctx context.Context) (worker.Result, *worker.Fault, error) {
	ctx, cancel := worker.Allow(ctx, s.allowed)
	defer cancel()
	result, err := s.client.Collect(ctx)
	fault, err := s.split(err)
	return result, fault, err
}

// sampler takes a number of samples of what is loaded.
type sampler func(ctx context.Context, n int) (worker.Timing, *worker.Fault, error)

// sampler returns how samples are taken: by the device itself where it keeps and
// compares everything, else by a stopwatch.
func (e *Evaluator) sampler(ctx context.Context, s *session, t worker.Time) (sampler, error) {
	if e.backend.Resident() {
		return func(ctx context.Context, n int) (worker.Timing, *worker.Fault, error) {
			t.Samples = n
			timing, fault, err := s.time(ctx, t)
			t.Batch = timing.Batch
			return timing, fault, err
		}, nil
	}
	w, err := e.stopwatch(ctx, s)
	if err != nil {
		return nil, err
	}
	return w.samples, nil
}

func (s *session) split(err error) (*worker.Fault, error) {
	fault, err := split(err)
	if err != nil {
		s.distrust()
	}
	return fault, err
}

func split(err error) (*worker.Fault, error) {
	var fault *worker.Fault
	if errors.As(err, &fault) {
		return fault, nil
	}
	return nil, err
}
