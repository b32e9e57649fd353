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
		return &Point{fmt.Sprintf("tuned (study %d)", s.ID), summary.Winner.Point.String(), s.ID}, nil
	}
	return nil, nil
}

// Record keeps the times of rivals with the study whose winner they were measured beside.
func (r *Result) Record(ctx context.Context, store *studies.Store, id int64) error {
	study, err := store.Study(ctx, id)
	if err != nil {
		return err
	}
	study.Rivals = map[string]float64{}
	for _, s := range r.Sides {
		if !s.Ours && !s.Limit && s.Milliseconds > 0 {
			study.Rivals[s.Name] = s.Milliseconds
		}
	}
	return store.Annotate(ctx, study.ID, study.Annotations)
}
