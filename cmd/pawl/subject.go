package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/kernels/records"
	"pawl/objective"
	"pawl/search"
	"pawl/search/replay"
	"pawl/space"
	"pawl/studies"
)

// replayBackend is the name of the backend that answers from a record.
const replayBackend = "replay"

var (
	tuneBackendFlag = &cli.StringFlag{Name: "backend", Value: autoBackend, Usage: "where kernels run: auto, cuda, host, or replay of a --record"}
	recordFlag      = &cli.StringFlag{Name: "record", DefaultText: "the kernel's embedded one", Usage: "the recorded `FILE` that --backend replay answers from"}
)

// subject is what a search works on: points, and who answers for them.
type subject struct {
	pool      *space.Pool
	evaluator search.Evaluator
	// space describes the pool before and after the machine's limits.
	space studies.SpaceFacts
	// head is the part of a study's head that the subject knows.
	head studies.Study
	// ahead is how many trials are compiled ahead of the device.
	ahead int
	close func()
}

func openSubject(c *cli.Context, env environment) (*subject, error) {
	isReplay := c.String("backend") == replayBackend
	if !isReplay && c.IsSet("record") {
		return nil, usagef("--record FILE is what --backend replay answers from")
	}
	if isReplay {
		return openReplay(c)
	}
	return openKernel(c, env)
}

// openKernel opens a kernel on this machine.
func openKernel(c *cli.Context, env environment) (*subject, error) {
	t, err := openTarget(c, env)
	if err != nil {
		return nil, err
	}
	pool, err := t.pool(c)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", t.kernel.Name, err)
	}
	source, err := t.kernel.Digest()
	if err != nil {
		return nil, err
	}
	work, err := t.work()
	if err != nil {
		return nil, err
	}
	b, err := t.openBench(c.Context, c, env)
	if err != nil {
		return nil, err
	}
	facts := studies.NewSpaceFacts(pool)
	if pool, facts.Infeasible, err = feasible(pool, b.backend.Preflight); err != nil {
		b.close()
		return nil, err
	}
	environment := b.backend.Environment()
	ahead := 0 // the search's own default
	if t.accelerator != nil {
		ahead = acceleratorAhead
	}
	return &subject{
		ahead: ahead, pool: pool, space: facts, evaluator: b.evaluator, close: b.close,
		head: studies.Study{
			Kernel: t.kernel.Name, Origin: t.kernel.Origin, Workload: t.workload.Name, Dims: t.workload.Dims.String(),
			Backend: environment.Backend, Source: source, Work: work, Environment: environment, Roofline: b.backend.Roofline().Measure(),
		},
	}, nil
}

// pool finds the valid points, for no longer than the whole budget.
func (t *target) pool(c *cli.Context) (*space.Pool, error) {
	ctx := c.Context
	if _, budget := limits(c); budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, budget, fmt.Errorf("the budget of %v was over before enough valid points were found: the constraints leave too few of %.3g", budget, t.space.Product()))
		defer cancel()
	}
	pool, err := t.space.Pool(space.PoolOptions{Seed: c.Uint64("seed"), Done: ctx.Done()})
	if errors.Is(err, space.ErrStopped) {
		return nil, fmt.Errorf("%w: %w", err, context.Cause(ctx))
	}
	return pool, err
}

// acceleratorAhead is how many trials are compiled ahead of a GPU, which
// measures a point in a fiftieth of the time that it takes to compile one. It
// does not depend on the machine, so that the same seed asks for the same points.
const acceleratorAhead = 16

// preflightLimit is the largest pool that is put through preflight before the
// search; points of a larger one are looked at when they are asked.
const preflightLimit = 200_000

// feasible removes the points that the machine's limits rule out, so that no
// trial is spent on them, and counts them by the limit. The default stays: if
// it is infeasible, the first trial says so.
func feasible(pool *space.Pool, preflight func(space.Point) *objective.Failure) (*space.Pool, map[string]int, error) {
	removed := map[string]int{}
	if pool.Len() > preflightLimit {
		return pool, removed, nil
	}
	initial := pool.Space().Default()
	kept, err := pool.Filter(func(p space.Point) bool {
		failure := preflight(p)
		if failure == nil || p == initial {
			return true
		}
		removed[failure.Detail]++
		return false
	})
	return kept, removed, err
}

// work evaluates the manifest's formulas for the workload.
func (t *target) work() (work studies.Work, err error) {
	work.Flops, work.Bytes, err = t.kernel.Work.For(t.workload.Dims)
	return work, err
}

// recordPath returns the record to replay: the one that is named, or the
// embedded one of a kernel.
func recordPath(c *cli.Context) (string, error) {
	if path := c.String("record"); path != "" {
		if c.NArg() > 0 {
			return "", usagef("a record names its kernel itself; %q is one too many", c.Args().First())
		}
		return path, nil
	}
	kernel := c.Args().First()
	if kernel == "" {
		kernel = defaultKernel
	}
	path, found := records.Of(kernel)
	if !found {
		return "", usagef("there is no recorded sweep of kernel %q; there are %s; --record FILE names another", kernel, strings.Join(records.Names(), ", "))
	}
	return path, nil
}

// openReplay opens a recorded space.
func openReplay(c *cli.Context) (*subject, error) {
	path, err := recordPath(c)
	if err != nil {
		return nil, err
	}
	record, err := replay.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if asked := c.String("workload"); asked != "" && asked != record.Workload {
		return nil, usagef("the record is of workload %q, not of %q", record.Workload, asked)
	}
	recorded, err := replay.New(record)
	if err != nil {
		return nil, err
	}
	return &subject{
		pool: recorded.Pool(), space: studies.NewSpaceFacts(recorded.Pool()), evaluator: replay.NewEvaluator(recorded, c.Uint64("seed")), close: func() {},
		head: studies.Study{
			Kernel: record.Kernel, Origin: path, Workload: record.Workload,
			Backend: replayBackend, Source: "record " + path, Environment: record.Environment,
		},
	}, nil
}
