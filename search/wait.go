package search

import (
	"context"
	"fmt"
	"slices"
)

// useWait uses the time until a trial is prepared, where the device has any: it gets
// ready what those on their way will be checked against, and then looks at the
// leaders again.
func (e *engine) useWait(ctx context.Context, f *flight) error {
	if !e.evaluator.Spare() {
		return nil
	}
	for !done(f.prepared) && !e.stopped() && ctx.Err() == nil {
		if next := slices.IndexFunc(e.flight, func(f *flight) bool { return !f.expected && !done(f.prepared) }); next >= 0 {
			if err := e.expect(ctx, e.flight[next]); err != nil {
				return err
			}
			continue
		}
		t, measure, found := e.nextLook()
		if !found {
			return nil
		}
		if err := e.look(ctx, t, measure); err != nil {
			return err
		}
	}
	return nil
}

// expect gets ready what a trial will be checked against.
func (e *engine) expect(ctx context.Context, f *flight) error {
	f.expected = true
	return timed(&e.spending.Looking, func() error {
		if err := e.evaluator.Anticipate(ctx, f.trial.Point); err != nil {
			return fmt.Errorf("getting the check of %s ready: %w", f.trial.Point, err)
		}
		return nil
	})
}

func done(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
