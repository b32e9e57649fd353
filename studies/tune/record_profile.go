package tune

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"pawl/internal/escape"
	"pawl/objective/profile"
	"pawl/objective/worker"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/across"
	"pawl/studies/report"
)

// ProfileFolder is where the profiles of a kernel and workload are, below the folder of the studies.
func ProfileFolder(out, kernel, workload string) string {
	return filepath.Join(out, escape.FileName(kernel), escape.FileName(workload), "profiles")
}

// RecordProfile keeps a profile with the newest study that has tried the point with this machine code,
// and returns the study's number; 0 where there is none, which is no error.
func RecordProfile(ctx context.Context, database string, p *profile.Profile) (recorded int64, err error) {
	store, err := studies.OpenExisting(ctx, database)
	if errors.Is(err, fs.ErrNotExist) || len(p.Metrics) == 0 {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer store.Close()
	all, err := store.List(ctx)
	if err != nil {
		return 0, err
	}
	for _, s := range all {
		if s.Damaged != "" || s.Kernel != p.Kernel || s.Workload != p.Workload || s.Dims != p.Dims ||
			s.Backend != p.Environment.Backend || s.Environment.Device != p.Environment.Device {
			continue
		}
		past, err := store.Past(ctx, s.ID)
		if err != nil {
			return 0, err
		}
		if slices.ContainsFunc(past.Trials,
			func(t trial.Trial) bool { return t.Point == p.Point && t.Outcome.Binary == p.Digest }) {
			return s.ID, errors.Join(store.Writable(), store.Profiled(ctx, s.ID, profileRow(p)))
		}
	}
	return 0, nil
}

func profileRow(p *profile.Profile) studies.Profile {
	return studies.Profile{
		Point:    p.Point,
		Workload: p.Workload,
		Tool:     p.Tool,
		Report:   p.Report,
		Created:  p.Created,
		Binary:   p.Digest,
		Metrics:  p.Metrics,
	}
}

// profile lets a profiler look at the default and the winner of a study whose search is over. A machine where nothing
// can be profiled is said, and is no error.
func (r *run) profile(ctx context.Context, study studies.Study) error {
	if !r.Profile || r.machine == nil || r.stopped() {
		return nil
	}
	summary, err := report.Read(ctx, r.store, study.ID)
	if err != nil {
		return err
	}
	if summary.Evidence == nil {
		r.Tools.Notice("nothing was profiled: no winner beside the default was confirmed")
		return nil
	}
	r.close() // its workers would keep the device from the profiler's
	reason, err := r.profilePoints(ctx, study, summary.Default.Point, summary.Winner.Point)
	if reason != "" {
		r.Tools.Notice("the winner was not profiled: " + reason)
	}
	return err
}

// profilePoints profiles points of a study and keeps what was counted with it. The first reason why nothing can be
// profiled ends it: the reason is returned, and is no error.
func (r *run) profilePoints(ctx context.Context, study studies.Study,
	points ...space.Point) (reason string, err error) {
	o := profile.Options{
		Folder: ProfileFolder(r.Place.Out, r.target.Kernel.Name, r.target.Workload.Name), Seed: study.Seed,
		Caches: worker.Caches(r.Study.Caches), RunTimeout: r.Study.RunTimeout, Now: time.Now(),
	}
	for _, point := range points {
		r.Observer.Profiling(point)
		p, failure, err := r.machine.Profile(ctx, r.target, point, o)
		switch {
		case err != nil:
			return "", fmt.Errorf("profiling %s: %w", point, err)
		case failure != nil:
			return fmt.Sprintf("%s: %s", point, failure), nil
		case p.NoMetrics != "":
			return p.NoMetrics, nil
		}
		if _, err := p.Write(o.Folder); err != nil {
			return "", err
		}
		if err := r.store.Profiled(ctx, study.ID, profileRow(p)); err != nil {
			return "", err
		}
	}
	return "", nil
}

// stopped reports whether somebody has asked for the end.
func (r *run) stopped() bool { return across.Limits{Stop: r.Stop}.Stopped() }
