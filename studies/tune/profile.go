package tune

import (
	"context"
	"slices"
	"time"

	"pawl/objective/profile"
	"pawl/objective/worker"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/lessons"
	"pawl/studies/report"
)

// profile lets a profiler look at the default, the winner and the steps between them of a study whose
// search is over. A machine where nothing can be profiled is said, and is no error.
func (r *run) profile(ctx context.Context, study studies.Study) error {
	if !r.Profile || r.machine == nil || r.stopped() {
		return nil
	}
	summary, err := report.Read(ctx, r.store, study.ID)
	if err != nil {
		return err
	}
	if summary.Evidence == nil {
		r.Notice("nothing was profiled: no winner beside the default was confirmed")
		return nil
	}
	r.free() // its workers would keep the device from the profiler's
	points := []space.Point{summary.Default.Point, summary.Winner.Point}
	for _, step := range summary.Ablation { // pairs that differ in one parameter: evidence for its effect
		if !slices.Contains(points, step.Point) {
			points = append(points, step.Point)
		}
	}
	reason, err := lessons.Points(ctx, r.machine, r.target, r.store, study.ID, points, profile.Options{
		Folder: lessons.Folder(r.Out, r.target.Kernel.Name, r.target.Workload.Name), Seed: study.Seed,
		Caches: worker.Caches(r.Study.Caches), RunTimeout: r.Study.RunTimeout, Now: time.Now(),
	}, r.Profiling)
	if reason != "" {
		r.Notice("the winner was not profiled: " + reason)
	}
	return err
}

// stopped reports whether somebody has asked for the end.
func (r *run) stopped() bool {
	select {
	case <-r.Stop:
		return true
	default:
		return false
	}
}
