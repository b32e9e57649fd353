// Package why connects studies with profiles: it keeps what a profiler counted with the study
// that has tried the point, and profiles the winner of a study beside the default once the search
// is over. A search is never slowed by it.
package why

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/objective/profile"
	"pawl/objective/worker"
	"pawl/search"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/lessons"
)

// Folder is where the profiles of a kernel and workload are, below the folder of the studies.
func Folder(out, kernel, workload string) string {
	return filepath.Join(out, escape.FileName(kernel), escape.FileName(workload), "profiles")
}

// Write writes a profile into its folder and returns the file's path.
func Write(folder string, p *profile.Profile) (string, error) {
	path := filepath.Join(folder, fmt.Sprintf("%.12s.json", p.Digest))
	if err := page.WriteFile(path, func(w io.Writer) error { return page.JSON(w, p) }); err != nil {
		return "", fmt.Errorf("the profile: %w", err)
	}
	return path, nil
}

// Record keeps a profile with the newest study that has tried the point with this machine code,
// and returns the study's number; 0 where there is none, which is no error. What the studies know
// about parameters that move what the advice is about is added to it.
func Record(ctx context.Context, database string, p *profile.Profile) (int64, error) {
	store, err := studies.OpenExisting(ctx, database)
	if errors.Is(err, fs.ErrNotExist) {
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
	var pasts []lessons.Past
	recorded := int64(0)
	for _, s := range all {
		if s.Damaged != "" || s.Kernel != p.Kernel || s.Workload != p.Workload || s.Dims != p.Dims ||
			s.Backend != p.Environment.Backend || s.Environment.Device != p.Environment.Device {
			continue
		}
		past, err := store.Past(ctx, s.ID)
		if err != nil {
			return 0, err
		}
		tried := slices.ContainsFunc(past.Trials,
			func(t search.Trial) bool { return t.Point == p.Point && t.Outcome.Binary == p.Digest })
		if recorded == 0 && tried && len(p.Metrics) > 0 {
			if err := errors.Join(store.Writable(), store.Profiled(ctx, s.ID, row(p))); err != nil {
				return 0, err
			}
			recorded = s.ID
		}
		profiles, err := store.Profiles(ctx, s.ID)
		if err != nil {
			return 0, err
		}
		pasts = append(pasts, lessons.Past{Study: s, Trials: past.Trials, Profiles: profiles})
	}
	lessons.Support(pasts, p.Advice)
	return recorded, nil
}

func row(p *profile.Profile) studies.Profile {
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

// Options say how the points of a study are profiled.
type Options struct {
	// Out is the folder of the studies.
	Out string
	// Seed and Caches are the study's own.
	Seed   uint64
	Caches worker.Caches
	// RunTimeout is how long one run of a kernel may take.
	RunTimeout time.Duration
	Now        func() time.Time
	// Observe is called before a point is profiled; it may be nil.
	Observe func(space.Point)
}

// Points profiles points of a study and keeps what was counted with it. The first reason why
// nothing can be profiled ends it: the reason is returned, and is no error.
func Points(ctx context.Context, m *devices.Machine, t devices.Target, store *studies.Store, study int64,
	points []space.Point, o Options) (reason string, err error) {
	for _, point := range points {
		if o.Observe != nil {
			o.Observe(point)
		}
		p, failure, err := profile.Run(ctx, m, t, point, profile.Options{
			Folder: Folder(o.Out, t.Kernel.Name, t.Workload.Name), Seed: o.Seed, Caches: o.Caches, RunTimeout: o.RunTimeout,
			Now: o.Now(),
		})
		switch {
		case errors.Is(err, objective.ErrNoProfiler):
			return err.Error(), nil
		case err != nil:
			return "", fmt.Errorf("profiling %s: %w", point, err)
		case failure != nil:
			return fmt.Sprintf("%s: %s", point, failure), nil
		case p.NoMetrics != "":
			return p.NoMetrics, nil
		}
		if _, err := Write(Folder(o.Out, t.Kernel.Name, t.Workload.Name), p); err != nil {
			return "", err
		}
		if err := store.Profiled(ctx, study, row(p)); err != nil {
			return "", err
		}
	}
	return "", nil
}
