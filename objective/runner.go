package objective

import (
	"context"
	"time"

	"pawl/objective/check"
	"pawl/objective/session"
	"pawl/space"
)

// runner runs things in workers, each on a device that is reserved for a point.
type runner struct {
	reserve func(context.Context, space.Point) (session.Slot, error)
	workers session.Source
	// ready compiles what the device needs, before it is reserved.
	ready   func(context.Context, space.Point) error
	allowed time.Duration // of each call
}

// run does something in a worker, with a device reserved for the point.
//
// Where it finds damage that a kernel before it may have done, it is done once more,
// from its beginning, in a worker that no other kernel has used.
func (r *runner) run(ctx context.Context, subject check.Subject, do func(*session.Session) error) error {
	if err := r.ready(ctx, subject.Point); err != nil {
		return err
	}
	doubtful, err := r.once(ctx, subject, do)
	if err == nil && doubtful {
		_, err = r.once(ctx, subject, do)
	}
	return err
}

func (r *runner) once(ctx context.Context, subject check.Subject, do func(*session.Session) error) (doubtful bool, err error) {
	slot, err := r.reserve(ctx, subject.Point)
	if err != nil {
		return false, err
	}
	defer slot.Release()
	if err := unchanged(subject.Module); err != nil {
		return false, err
	}
	s, err := r.workers.Take(ctx, slot, r.allowed)
	defer r.workers.Return(s)
	if err == nil {
		err = do(s)
	}
	if err != nil {
		return false, err
	}
	return s.Doubtful(), unchanged(subject.Module)
}
