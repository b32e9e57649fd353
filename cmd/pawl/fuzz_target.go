package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"pawl/kernels"
	"pawl/objective/check"
	"pawl/objective/worker"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/report"
)

// fuzzTargets returns the kernel and the points that the command line names.
func fuzzTargets(c *cli.Context, env environment) (*target, []space.Point, error) {
	t, err := openTarget(c, env)
	var missing *kernels.NotFoundError
	if errors.As(err, &missing) && isFolder(missing.Name) {
		// The command line is right, as a script's loop over folders is.
		fmt.Fprintf(env.stderr, "pawl: there is no %s in %s: nothing to test\n", kernels.ManifestName, missing.Name)
		return nil, nil, answer(exitNothing)
	}
	if err != nil {
		return nil, nil, err
	}
	if c.Bool("all-finalists") {
		return finalists(c, env, t)
	}
	point, err := t.point(c)
	return t, []space.Point{point}, err
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// finalists returns the default and the finalists of a kernel's latest study.
func finalists(c *cli.Context, env environment, t *target) (*target, []space.Point, error) {
	nothing := func(reason string) (*target, []space.Point, error) {
		fmt.Fprintf(env.stderr, "pawl: %s: nothing to test\n", reason)
		return nil, nil, answer(exitNothing)
	}
	store, err := studies.OpenExisting(c.Context, filepath.Join(c.String("out"), kernels.DatabaseName))
	if errors.Is(err, fs.ErrNotExist) {
		return nothing(fmt.Sprintf("there are no studies in %s", c.String("out")))
	}
	if err != nil {
		return nil, nil, err
	}
	defer store.Close()
	for _, notice := range store.Notices {
		env.notice(notice)
	}
	study, found, err := latestStudy(c, store, t)
	if err != nil {
		return nil, nil, err
	}
	if !found {
		return nothing(fmt.Sprintf("there is no study of %s in %s", t.kernel.Name, c.String("out")))
	}
	if digest, err := t.kernel.Digest(); err != nil || digest != study.Source {
		fmt.Fprintf(env.stderr, "pawl: the sources of %s have changed since study %d: its finalists are checked as they compile now\n", t.kernel.Name, study.ID)
	}
	summary, err := report.Read(c.Context, store, study.ID)
	if err != nil {
		return nil, nil, err
	}
	var points []space.Point
	if summary.Default != nil {
		points = append(points, summary.Default.Point)
	}
	for _, top := range summary.Top {
		points = append(points, top.Point)
	}
	if len(points) == 0 {
		return nothing(fmt.Sprintf("study %d has no point that passed", study.ID))
	}
	if err := c.Set("workload", study.Workload); err != nil {
		return nil, nil, err
	}
	if t, err = openTarget(c, env); err != nil {
		return nil, nil, err
	}
	for _, point := range points {
		if err := t.space.Check(point); err != nil {
			return nil, nil, fmt.Errorf("study %d: %w; the manifest has changed since, tune again", study.ID, err)
		}
	}
	return t, points, nil
}

// latestStudy returns the newest study of a kernel, of the workload that the
// command line names if it names one.
func latestStudy(c *cli.Context, store *studies.Store, t *target) (studies.Study, bool, error) {
	all, err := store.List(c.Context)
	if err != nil {
		return studies.Study{}, false, err
	}
	for _, s := range all {
		if s.Kernel == t.kernel.Name && s.Backend == t.kernel.Backend && (!c.IsSet("workload") || s.Workload == t.workload.Name) {
			return s, true, nil
		}
	}
	return studies.Study{}, false, nil
}

// singleCase returns the case that the command line describes.
func (b *bench) singleCase(c *cli.Context) (check.Case, error) {
	sizes, err := space.ParsePoint(c.String("shape"))
	if err != nil {
		return check.Case{}, usageError{fmt.Errorf("--shape: %w", err)}
	}
	single := check.Case{Dims: maps.Clone(b.workload.Dims), Seed: c.Uint64("seed"), Family: c.String("family"), Layout: worker.Layout(c.String("layout"))}
	for _, size := range sizes.Assignments() {
		if _, ok := single.Dims[size.Name]; !ok || size.Value.Integer() < 1 {
			return single, usagef("--shape: %s=%s: a size of at least 1 for one of %s", size.Name, size.Value, b.workload.Dims)
		}
		single.Dims[size.Name] = size.Value.Integer()
	}
	if !b.kernel.Allows(single.Dims) {
		return single, usagef("--shape: %s is outside the domain of %s in its manifest", single.Dims, b.kernel.Name)
	}
	if family := single.Family; family != "" {
		if _, err := b.kernel.BindFamily(single.Dims, family); err != nil {
			return single, usageError{fmt.Errorf("--family: %w", err)}
		}
	}
	switch single.Layout {
	case "", worker.Guarded, worker.Aligned, worker.Misaligned:
		return single, nil
	}
	return single, usagef("--layout %q: guarded, aligned or misaligned", single.Layout)
}
