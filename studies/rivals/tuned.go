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
	summary, err := report.Newest(ctx, store,
		func(s studies.Study) bool { return s.Of(t.Kernel, t.Workload) },
		func(s *report.Summary) bool { return s.Winner != nil && t.Space.Check(s.Winner.Point) == nil })
	if err != nil || summary == nil {
		return nil, err
	}
	id := summary.Study.ID
	return &Point{fmt.Sprintf("tuned (study %d)", id), summary.Winner.Point.String(), id}, nil
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
