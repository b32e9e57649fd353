package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/session"
	"pawl/objective/worker"
	"pawl/space"
	"pawl/studies"
)

// Flags that several commands share.
var (
	workloadFlag = &cli.StringFlag{Name: "workload", Aliases: []string{"w"}, DefaultText: "the manifest's first", Usage: "the `NAME` of a workload in the manifest"}
	cacheFlag    = &cli.StringFlag{Name: "cache", DefaultText: "pawl in the user's cache folder", Usage: "the `FOLDER` of compiled kernels"}
	outFlag      = &cli.StringFlag{Name: "out", Value: "tuning", Usage: "the `FOLDER` for the study database and the reports"}
	jsonFlag     = &cli.BoolFlag{Name: "json", DisableDefaultText: true, Usage: "print the result as JSON on standard output"}
	seedFlag     = &cli.Uint64Flag{Name: "seed", Value: 1, Usage: "the `NUMBER` that fixes the order of points and the inputs"}
	atFlag       = &cli.StringFlag{Name: "at", Usage: "a `POINT` such as BLOCK_M=64,BLOCK_N=32; what it leaves out has its default"}
	timeoutFlag  = &cli.DurationFlag{Name: "run-timeout", Value: 10 * time.Second, Usage: "how long one run of a kernel may take"}
	compileFlag  = &cli.DurationFlag{Name: "compile-timeout", Value: time.Minute, Usage: "how long one compilation may take"}
)

// defaultKernel is tuned when none is named.
const defaultKernel = "attention"

// cacheLimit is how much the compile cache may hold between runs, in bytes.
const cacheLimit = 2 << 30

// target is a kernel with a workload and its space: what a command works on.
type target struct {
	kernel   *kernels.Kernel
	workload kernels.Workload
	space    *space.Space
	// accelerator is nil for a kernel that runs on the processor.
	accelerator *accelerator
	// residents are workers shared with other targets; nil for its own.
	residents *session.Residents
}

// openTarget loads the kernel that the command line names.
func openTarget(c *cli.Context, env environment) (*target, error) {
	if c.NArg() > 1 {
		return nil, usagef("one kernel at a time, got %s", strings.Join(c.Args().Slice(), " "))
	}
	if err := checkDeviceFlags(c); err != nil {
		return nil, err
	}
	name := c.Args().First()
	if name == "" {
		name = defaultKernel
	}
	k, accelerator, err := loadKernel(c, env, name, c.String("backend"))
	var missing *kernels.NotFoundError
	if errors.As(err, &missing) {
		if guess := closest(name, missing.Known); guess != "" {
			return nil, usageError{fmt.Errorf("%w; did you mean %s?", err, guess)}
		}
		return nil, usageError{err}
	}
	if err != nil {
		return nil, err
	}
	w, err := k.Workload(c.String("workload"))
	if err != nil {
		return nil, usageError{suggestWorkload(err, k, c.String("workload"))}
	}
	s, err := k.Space(w)
	if err != nil {
		return nil, err
	}
	return &target{kernel: k, workload: w, space: s, accelerator: accelerator}, nil
}

func suggestWorkload(err error, k *kernels.Kernel, name string) error {
	var names []string
	for _, w := range k.Workloads {
		names = append(names, w.Name)
	}
	if guess := closest(name, names); guess != "" {
		return fmt.Errorf("%w; did you mean %s?", err, guess)
	}
	return err
}

// point returns the point that the command line names, or the default.
func (t *target) point(c *cli.Context) (space.Point, error) {
	partial, err := space.ParsePoint(c.String("at"))
	if err != nil {
		return space.Point{}, usageError{err}
	}
	point, err := t.space.Complete(partial)
	if err != nil {
		return space.Point{}, usageError{err}
	}
	return point, nil
}

// bench is a target on a device.
type bench struct {
	*target
	backend   objective.Backend
	evaluator *objective.Evaluator
	restore   func() // the clocks
}

func (b *bench) close() {
	b.evaluator.Close()
	b.restore()
}

// openBench opens the cache and connects the target with its device.
func (t *target) openBench(ctx context.Context, c *cli.Context, env environment) (*bench, error) {
	dir := c.String("cache")
	if dir == "" {
		var err error
		if dir, err = defaultCache(); err != nil {
			return nil, err
		}
	}
	compiled, err := cache.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := compiled.Prune(cacheLimit); err != nil {
		fmt.Fprintf(env.stderr, "pawl: %v\n", err) // a full cache is no reason to stop
	}
	backend, err := t.openBackend(ctx, c, env, compiled)
	if err != nil {
		return nil, err
	}
	if c.IsSet("caches") && t.accelerator == nil {
		fmt.Fprintln(env.stderr, "pawl: --caches has no effect: the kernel runs on the processor")
	}
	measurements := compiled
	if c.Bool("cold") || c.IsSet("lock-clocks") { // locked, the device is another one
		measurements = nil
	}
	evaluator := objective.NewEvaluator(t.kernel, t.workload, backend, objective.Options{
		Measurements: measurements, Seed: c.Uint64("seed"), RunTimeout: c.Duration("run-timeout"), Stopping: objective.Stopping{Floor: c.Int("samples")}, Caches: worker.Caches(c.String("caches")), Residents: t.residents,
	})
	return &bench{t, backend, evaluator, t.lockClocks(c, env)}, nil
}

// openPoint prepares the point that the command line names, for commands about
// a single one.
func openPoint(c *cli.Context, env environment) (*bench, objective.Prepared, error) {
	t, err := openTarget(c, env)
	if err != nil {
		return nil, objective.Prepared{}, err
	}
	point, err := t.point(c)
	if err != nil {
		return nil, objective.Prepared{}, err
	}
	b, err := t.openBench(c.Context, c, env)
	if err != nil {
		return nil, objective.Prepared{}, err
	}
	prepared, err := b.evaluator.Prepare(c.Context, point)
	if err != nil {
		b.close()
		return nil, objective.Prepared{}, err
	}
	return b, prepared, nil
}

func defaultCache() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the compile cache (name one with --cache): %w", err)
	}
	return filepath.Join(base, "pawl"), nil
}

// work evaluates the manifest's formulas for the workload.
func (t *target) work() (work studies.Work, err error) {
	work.Flops, work.Bytes, err = t.kernel.Work.For(t.workload.Dims)
	return work, err
}
