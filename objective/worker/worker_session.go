package worker

import (
	"context"
	"errors"
	"time"

	"pawl/internal/process"
)

// Slot is a device that is reserved for a point.
type Slot struct {
	// Device names it among the devices of the backend.
	Device string
	// Worker says how to start a process that runs binaries there.
	Worker Command
	// Release lets others have the device.
	Release func()
}

// Watched says that the worker runs under a tool that watches every access.
func (s Slot) Watched() bool { return len(s.Worker.Under) > 0 }

// Source hands out sessions. Its methods may be called at the same time.
type Source interface {
	// Take returns a session in a worker on a reserved device. Each of its calls may
	// take as long as allowed.
	Take(ctx context.Context, slot Slot, allowed time.Duration) (*Session, error)
	// Return ends the use of a session.
	Return(*Session)
}

// Fresh is the source that starts a worker for every session.
type Fresh struct{}

var _ Source = Fresh{}

// Take starts a worker.
func (Fresh) Take(_ context.Context, slot Slot, allowed time.Duration) (*Session, error) {
	client, err := Start(slot.Worker)
	return &Session{Client: client, Slot: slot, Allowed: allowed}, err
}

// Return ends the worker.
func (Fresh) Return(s *Session) {
	if s.Client != nil {
		s.Client.Close()
	}
}

// Session is a worker that one point uses. Its calls must not overlap.
type Session struct {
	Client  *Client
	Slot    Slot
	Allowed time.Duration
	// Longest is how long the longest call took.
	Longest time.Duration
	// Loading is how long it took to get the kernel to a device that keeps things.
	Loading time.Duration
	// distrusted says that a kernel wrote where it must not, so that what the
	// worker remembers may be damaged too, or that a call failed for a reason
	// that may stay with the worker: a reference can break its device as well.
	distrusted bool
	// damaged says that memory was found changed that no kernel may change, and
	// served that other kernels have used the worker before this one: then it may
	// have been one of them.
	damaged, served bool
}

// Distrust says that no other point may use the worker.
func (s *Session) Distrust() { s.distrusted = true }

// Damaged distrusts the worker for damage, and notes whether another kernel may have
// done it.
func (s *Session) Damaged(damage *Fault) {
	s.Distrust()
	s.damaged = s.damaged || damage.Kind == OutOfBounds || damage.Kind == InputModified
}

// Doubtful reports that damage was found which another kernel may have done.
func (s *Session) Doubtful() bool { return s.damaged && s.served }

// Load gets a kernel and its arguments ready.
func (s *Session) Load(ctx context.Context, load Load) (*Fault, error) {
	_, fault, err := call(ctx, s, s.Allowed, load, func(ctx context.Context, load Load) (struct{}, error) {
		return struct{}{}, s.Client.Load(ctx, load)
	})
	return fault, err
}

// Check takes steps on a device that compares by itself. At is the step that a
// fault belongs to.
func (s *Session) Check(ctx context.Context, steps []Step,
	judge func(int, Result) bool) (at int, fault *Fault, err error) {
	defer s.Clock()()
	at, err = s.Client.Check(ctx, s.Allowed, steps, judge)
	fault, err = s.split(err)
	return at, fault, err
}

// Run runs the loaded kernel once.
func (s *Session) Run(ctx context.Context) (Result, *Fault, error) {
	return call(ctx, s, s.Allowed, Run{}, s.Client.Run)
}

// Time takes samples of the loaded kernel. Damage that its launches did is a fault.
func (s *Session) Time(ctx context.Context, t Time) (Timing, *Fault, error) {
	// Several samples are many runs; none of them was slow in the check.
	timing, fault, err := call(ctx, s, s.Allowed*time.Duration(t.Samples+1), t, s.Client.Time)
	if fault == nil && timing.Damage != nil {
		s.Damaged(timing.Damage)
		fault = timing.Damage
	}
	return timing, fault, err
}

// Arrange gets inputs ready for the launches that are timed next.
func (s *Session) Arrange(ctx context.Context, a Arrange) ([]Region, *Fault, error) {
	return call(ctx, s, s.Allowed, a, s.Client.Arrange)
}

// Collect returns what the launches that were timed last have left behind.
func (s *Session) Collect(ctx context.Context, c Collect) (Result, *Fault, error) {
	return call(ctx, s, s.Allowed, c, s.Client.Collect)
}

// Conclude ends the worker and returns what the tool found that watched it.
func (s *Session) Conclude(ctx context.Context) (*Fault, error) {
	return s.split(s.Client.Conclude(ctx))
}

// Profile runs the loaded kernel once, so that a profiler sees that launch alone. It takes as
// long as allowed: a profiler repeats the launch many times.
func (s *Session) Profile(ctx context.Context, allowed time.Duration) (Result, *Fault, error) {
	return call(ctx, s, allowed, Run{Profiled: true}, s.Client.Run)
}

// call makes a call of the worker with a time limit.
func call[A, R any](ctx context.Context, s *Session, allowed time.Duration, argument A,
	do func(context.Context, A) (R, error)) (R, *Fault, error) {
	ctx, cancel := process.Allow(ctx, allowed)
	defer cancel()
	defer s.Clock()()
	result, err := do(ctx, argument)
	fault, err := s.split(err)
	return result, fault, err
}

// Clock notes how long a call takes, up to when what it returns is called.
func (s *Session) Clock() func() {
	start := time.Now()
	return func() { s.Longest = max(s.Longest, time.Since(start)) }
}

func (s *Session) split(err error) (*Fault, error) {
	if machine, ok := errors.AsType[*process.MachineFault](err); ok { // which may wrap a fault
		s.Distrust()
		return nil, machine
	}
	if fault, ok := errors.AsType[*Fault](err); ok {
		return fault, nil
	}
	if err != nil {
		s.Distrust()
	}
	return nil, err
}
