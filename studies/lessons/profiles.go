package lessons

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"pawl/internal/escape"
	"pawl/objective/devices"
	"pawl/objective/profile"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// Folder is where the profiles of a kernel and workload are, below the folder of the studies.
func Folder(out, kernel, workload string) string {
	return filepath.Join(out, escape.FileName(kernel), escape.FileName(workload), "profiles")
}

// Record keeps a profile with the newest study that has tried the point with this machine code,
// and returns the study's number; 0 where there is none, which is no error. What the studies know
// about parameters that move what the advice is about is added to it.
func Record(ctx context.Context, database string, p *profile.Profile) (recorded int64, err error) {
	store, err := studies.OpenExisting(ctx, database)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer store.Close()
	pasts, err := Pasts(ctx, store, func(s studies.Study) bool {
		return s.Kernel == p.Kernel && s.Workload == p.Workload && s.Dims == p.Dims &&
			s.Backend == p.Environment.Backend && s.Environment.Device == p.Environment.Device
	})
	if err != nil {
		return 0, err
	}
	for i, past := range pasts {
		if len(p.Metrics) == 0 || !slices.ContainsFunc(past.Trials,
			func(t trial.Trial) bool { return t.Point == p.Point && t.Outcome.Binary == p.Digest }) {
			continue
		}
		recorded = past.Study.ID
		if err := errors.Join(store.Writable(), store.Profiled(ctx, recorded, row(p))); err != nil {
			return 0, err
		}
		pasts[i].Profiles = append(past.Profiles, row(p))
		break
	}
	Support(pasts, p.Advice)
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

// Points profiles points of a study and keeps what was counted with it. Observe is called before each; it may be nil.
// The first reason why nothing can be profiled ends it: the reason is returned, and is no error.
func Points(ctx context.Context, m *devices.Machine, t devices.Target, store *studies.Store, study int64,
	points []space.Point, o profile.Options, observe func(space.Point)) (reason string, err error) {
	for _, point := range points {
		if observe != nil {
			observe(point)
		}
		p, failure, err := m.Profile(ctx, t, point, o)
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
		if err := store.Profiled(ctx, study, row(p)); err != nil {
			return "", err
		}
	}
	return "", nil
}
