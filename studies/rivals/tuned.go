package rivals

import (
	"context"
	"fmt"

	"pawl/objective/devices"
	"pawl/studies"
	"pawl/studies/report"
)

// Tuned returns the winner of the newest study of a kernel's workload, nil where there is none.
// A damaged study is passed over.
func Tuned(ctx context.Context, store *studies.Store, t devices.Target) (*Point, error) {
	all, err := store.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if !s.Of(t.Kernel, t.Workload) {
			continue
		}
		summary, err := report.Read(ctx, store, s.ID)
		if err != nil {
			return nil, err
		}
		if summary.Winner == nil || t.Space.Check(summary.Winner.Point) != nil {
			continue // none, or of another space
		}
		return &Point{Name: fmt.Sprintf("tuned (study %d)", s.ID), At: summary.Winner.Point.String()}, nil
	}
	return nil, nil
}
