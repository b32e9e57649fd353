package objective

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"pawl/internal/process"
	"pawl/objective/check"
	"pawl/objective/worker"
	"pawl/space"
)

// runner runs things in workers, each on a device that is reserved for a point.
type runner struct {
	reserve func(context.Context, space.Point) (worker.Slot, error)
	workers worker.Source
	// ready compiles what the device needs, before it is reserved.
	ready func(context.Context, space.Point) error
	// restore compiles again what a point needs, where a file was damaged.
	restore func(context.Context, space.Point) error
	faults  *machineFaults
	sources *sources
	// allowed is how long each call of the default may take; budget is as in [Options].
	allowed, budget time.Duration
	least           time.Duration // what a point may take in any case
	initial         space.Point
	usual           atomic.Int64 // the default's longest call, in nanoseconds; 0 before it has run
}

// run does something in a worker, with a device reserved for the point. It fails a kernel that
// damages its own compiled file.
//
// Where it finds damage that a kernel before it may have done, it is done once more,
// from its beginning, in a worker that no other kernel has used. So it is, a few times, where the machine has not let
// it come to its end.
func (r *runner) run(ctx context.Context, subject check.Subject, do func(*worker.Session) error) (*Failure, error) {
	err := r.faults.persist(ctx, subject.Point, func() error { return r.attempt(ctx, subject, do) })
	if found, ok := errors.AsType[*check.Damage](err); ok && found.Used && process.FaultOfMachine(err) == nil {
		return &Failure{Fuzz, Damaged, "it " + found.What}, nil
	}
	if ended, ok := errors.AsType[*endedPawl](err); ok {
		return &Failure{Bench, EndedPawl, ended.Error()}, nil
	}
	if own, ok := err.(*worker.Fault); ok { // each time
		return faultFailure(Fuzz, own), nil
	}
	return nil, err
}

func (r *runner) attempt(ctx context.Context, subject check.Subject, do func(*worker.Session) error) error {
	if err := r.ready(ctx, subject.Point); err != nil {
		return err
	}
	doubtful, err := r.restored(ctx, subject, do)
	if err == nil && doubtful {
		_, err = r.restored(ctx, subject, do)
	}
	if err == nil && r.sources.lateRead() {
		err = r.sources.unchanged()
	}
	// A confined kernel removes no file.
	if damage, ok := errors.AsType[*check.Damage](err); ok && damage.Gone && (!damage.Used || process.Confines() == nil) {
		return &process.MachineFault{What: "a file of the compile cache was removed", Err: damage}
	}
	return err
}

// restored does it once more where a compiled file was damaged: another process that cleans up
// the compile cache does that, and another kernel may. Twice in use, and it is the kernel itself.
func (r *runner) restored(ctx context.Context, subject check.Subject,
	do func(*worker.Session) error) (doubtful bool, err error) {
	doubtful, err = r.once(ctx, subject, do)
	if _, ok := errors.AsType[*check.Damage](err); !ok {
		return doubtful, err
	}
	if err := r.restore(ctx, subject.Point); err != nil {
		return false, err
	}
	return r.once(ctx, subject, do)
}

func (r *runner) once(ctx context.Context, subject check.Subject,
	do func(*worker.Session) error) (doubtful bool, err error) {
	slot, err := r.reserve(ctx, subject.Point)
	if err != nil {
		return false, err
	}
	defer slot.Release()
	if err := subject.Module.Damaged(false); err != nil {
		return false, err
	}
	slot.Worker.Access = subject.Module.Access(slot.Worker.Access)
	if slot.Worker.Shared {
		ended, err := noteStart(subject.Module)
		if err != nil {
			return false, err
		}
		defer ended()
	}
	s, err := r.workers.Take(ctx, slot, r.limit(subject.Point))
	defer r.workers.Return(s)
	if err == nil {
		err = do(s)
	}
	if err != nil {
		// Where a file was removed meanwhile, that is why.
		if gone, ok := errors.AsType[*check.Damage](subject.Module.Damaged(false)); ok && gone.Gone {
			err = gone
		}
		return false, err
	}
	if subject.Point == r.initial {
		r.usual.Store(max(r.usual.Load(), int64(s.Longest)))
	}
	return s.Doubtful(), subject.Module.Damaged(true)
}
