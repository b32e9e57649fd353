package report

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"pawl/internal/collect"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// Read computes the facts of a study in a database.
func Read(ctx context.Context, store *studies.Store, id int64) (*Summary, error) {
	return read(ctx, store, id, false)
}

// ReadBrief computes the facts without what each change is worth, which takes half of the time and decides nothing,
// and without other studies.
func ReadBrief(ctx context.Context, store *studies.Store, id int64) (*Summary, error) {
	return read(ctx, store, id, true)
}

func read(ctx context.Context, store *studies.Store, id int64, brief bool) (*Summary, error) {
	study, err := store.Study(ctx, id)
	if err != nil {
		return nil, err
	}
	past, err := store.Past(ctx, id)
	if err != nil {
		return nil, err
	}
	if brief {
		past.Rounds = slices.DeleteFunc(past.Rounds, func(r trial.Round) bool { return r.Phase == trial.Ablation })
	}
	gatings, err := store.Gatings(ctx, id)
	if err != nil {
		return nil, err
	}
	summary, err := Summarise(study, past, gatings...)
	if err != nil {
		return nil, fmt.Errorf("summarising study %d: %w", id, err)
	}
	rounds, err := store.Across(ctx, id)
	if err != nil {
		return nil, err
	}
	summary.Across = across(&summary, rounds)
	profiles, err := store.Profiles(ctx, id)
	if err != nil {
		return nil, err
	}
	summary.Why = whyFaster(&summary, profiles)
	if brief {
		return &summary, nil
	}
	all, err := store.List(ctx)
	if err != nil {
		return nil, err
	}
	summary.Sources = otherSources(ctx, store, all, &summary)
	summary.Sizes = sizes(ctx, store, all, &summary)
	return &summary, ctx.Err()
}

// Newest returns the newest study that head accepts by what the list has of it, and facts by its summary; nil for none.
func Newest(ctx context.Context, store *studies.Store, head func(studies.Study) bool,
	facts func(*Summary) bool) (*Summary, error) {
	all, err := store.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Damaged != "" || !head(s) {
			continue
		}
		summary, err := Read(ctx, store, s.ID)
		if errors.As(err, new(*studies.DamagedError)) {
			continue
		}
		if err != nil || facts(summary) {
			return summary, err
		}
	}
	return nil, nil
}

// Finalists returns the newest study of a kernel on a backend, of a workload if one is
// named, with the points to check: its default and its finalists. The error wraps
// studies.ErrNoStudy where there is none.
func Finalists(ctx context.Context, store *studies.Store,
	kernel, backend, workload string) (studies.Study, []space.Point, error) {
	summary, err := Newest(ctx, store, func(s studies.Study) bool {
		return s.Kernel == kernel && s.Backend == backend && (workload == "" || s.Workload == workload)
	}, func(*Summary) bool { return true })
	if err != nil {
		return studies.Study{}, nil, err
	}
	if summary == nil {
		return studies.Study{}, nil, studies.ErrNoStudy
	}
	var points []space.Point
	if summary.Default != nil {
		points = append(points, summary.Default.Point)
	}
	return summary.Study, append(points, collect.Each(summary.Top, func(t Timed) space.Point { return t.Point })...), nil
}
