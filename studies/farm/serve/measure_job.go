package serve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"pawl/internal/page"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/devices"
	"pawl/objective/worker"
	"pawl/space"
	"pawl/studies/farm"
)

func (s *server) run(ctx context.Context, job farm.Job) (farm.Answer, error) {
	return s.benches.with("run", job.Subject, func(b *bench) (err error) {
		if b.bench, b.fetched, err = s.openBuilt(ctx, job.Subject, nil); err == nil {
			b.evaluator = b.bench.Evaluator
		}
		return err
	}, func(b *bench) (farm.Answer, error) { return s.runWith(ctx, b, job) })
}

// openBuilt opens a subject on a device that runs what comes with its tasks.
func (s *server) openBuilt(ctx context.Context, subject farm.Subject,
	residents *worker.Residents) (*devices.Bench, *fetched, error) {
	target, err := s.target(ctx, subject)
	if err != nil {
		return nil, nil, err
	}
	o := subject.Definition.Measuring()
	o.Residents = residents
	f := &fetched{server: s}
	b, err := s.machine(subject, false).OpenBuilt(ctx, target, o, f.on)
	return b, f, err
}

func (s *server) runWith(ctx context.Context, b *bench, job farm.Job) (answer farm.Answer, err error) {
	if job.Action == farm.Describe {
		answer.Description, err = describe(ctx, b.bench, job.Subject)
		return answer, err
	}
	prepared, err := b.fetched.prepare(ctx, b.bench, job.Point, job.Compiled)
	if err != nil {
		return answer, err
	}
	prepared.Spent = job.Compiled.Spent // what was compiled elsewhere took its time there
	asked := time.Now()
	free, err := s.reserve(ctx, job.Subject.Definition.Backend, 1)
	if err != nil {
		return answer, err
	}
	defer free()
	waited := time.Since(asked)
	if job.Action == farm.Sample {
		b.refresh(job.Fresh)
	}
	answer, err = s.on(ctx, b, job, prepared)
	answer.Waited = waited
	return answer, err
}

// on lets the evaluator of a bench answer for a point.
func (s *server) on(ctx context.Context, b *bench, job farm.Job, p objective.Prepared) (answer farm.Answer, err error) {
	outcome := &objective.Outcome{}
	switch job.Action {
	case farm.Measure:
		*outcome, err = b.evaluator.Measure(ctx, p, job.Incumbent)
		answer.Outcome = outcome
	case farm.Verify:
		if answer.Failure = p.Failure; p.Failure == nil {
			answer.Failure, err = b.evaluator.Verify(ctx, p)
		}
		if b.bench != nil {
			answer.Evidence = b.bench.Evaluator.TakeEvidence(p)
		}
	case farm.Look:
		if answer.Failure, answer.Through = p.Failure, true; p.Failure == nil && b.bench != nil {
			answer.Through, answer.Failure, err = b.bench.Evaluator.VerifyFor(ctx, p, job.Allowed)
		}
	case farm.Sample:
		p.Kinds, p.KindSamples = job.Kinds, job.KindSamples
		*outcome, err = b.evaluator.Sample(ctx, p, job.Samples)
		answer.Outcome = outcome
	}
	outcome.Device = s.identity
	return answer, err
}

// refresh makes samples come from fresh processes when who asks wants that.
func (b *bench) refresh(fresh string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fresh != fresh {
		b.fresh = fresh
		b.evaluator.Refresh()
	}
}

// reserve gives a measurement on the processor all cores, and keeps out other workers of this machine. Of GPUs it
// takes so many; they are locked where they are used.
func (s *server) reserve(ctx context.Context, backend string, gpus int64) (free func(), err error) {
	if kernels.BackendOf(backend).GPU {
		if err := s.devices.Acquire(ctx, gpus); err != nil {
			return nil, context.Cause(ctx)
		}
		return func() { s.devices.Release(gpus) }, nil
	}
	if err := s.cores.Acquire(ctx, s.width); err != nil {
		return nil, context.Cause(ctx)
	}
	// The file stays: another user's worker may hold it, and to read it is enough for a lock.
	lock, err := page.Hold(ctx, filepath.Join(os.TempDir(), "pawl-processor.lock"), func() {
		s.Farm.Log.Info("waiting for another worker that measures on this processor")
	})
	if err != nil {
		s.cores.Release(s.width)
		return nil, err
	}
	return func() {
		_ = lock.Close()
		s.cores.Release(s.width)
	}, nil
}

func describe(ctx context.Context, b *devices.Bench, subject farm.Subject) (*farm.Description, error) {
	facts := b.Backend.Facts()
	d := &farm.Description{
		Environment: facts.Environment, Roofline: facts.Roofline.Comparable(), Resident: facts.Resident,
		Default: b.Backend.Preflight(b.Kernel.Default()),
	}
	how := subject.Definition
	searched, err := how.Searched(b.Space)
	if err != nil {
		return nil, err
	}
	pool, err := searched.Pool(space.PoolOptions{Seed: how.Seed, Done: ctx.Done()})
	if err != nil {
		return nil, err
	}
	kept, reasons, err := devices.Feasible(pool, b.Backend)
	if err != nil || kept.Len() == pool.Len() {
		return d, err
	}
	d.Reasons, d.Infeasible = reasons, make([]byte, (pool.Len()+7)/8)
	for i := range pool.Len() {
		if _, err := kept.Index(pool.Point(i)); err != nil {
			d.Infeasible[i/8] |= 1 << (i % 8)
		}
	}
	return d, nil
}

// fetched is a device that runs what came with its tasks.
type fetched struct {
	objective.Backend
	server *server
	points sync.Map // *farm.Binary by point
	given  sync.Map // *farm.Binary of the reference, by what that depends on
}

func (f *fetched) on(device objective.Backend) objective.Backend {
	f.Backend = device
	return f
}

// Compile returns the binary that came with the point's task.
func (f *fetched) Compile(ctx context.Context, p space.Point) (objective.Binary, *objective.Failure, error) {
	binary, err := f.get(ctx, &f.points, p)
	return binary, nil, err
}

// Reference returns the reference's binary.
func (f *fetched) Reference(ctx context.Context, given space.Point) (objective.Binary, error) {
	return f.get(ctx, &f.given, given)
}

func (f *fetched) prepare(ctx context.Context, b *devices.Bench, point string,
	compiled *farm.Compiled) (objective.Prepared, error) {
	if compiled == nil || compiled.Binary == nil {
		return objective.Prepared{}, fmt.Errorf("the task has no binary of %s", point)
	}
	p, err := b.Point(point)
	if err != nil {
		return objective.Prepared{}, err
	}
	f.points.Store(p, compiled.Binary)
	f.given.Store(b.Kernel.ReferencePoint(p), compiled.Reference)
	return b.Evaluator.Prepare(ctx, p)
}

// get fetches a binary's files. The cache checks them at every use.
func (f *fetched) get(ctx context.Context, in *sync.Map, p space.Point) (objective.Binary, error) {
	found, _ := in.Load(p)
	b, _ := found.(*farm.Binary)
	if b == nil {
		return objective.Binary{}, fmt.Errorf("no binary of %s came with its task", p)
	}
	module, err := f.server.file(ctx, b.Module)
	if err != nil {
		return objective.Binary{}, err
	}
	binary := b.Built
	binary.Path, binary.File, binary.Hit = module.Path, module.Digest, true
	if b.Support != "" {
		support, err := f.server.file(ctx, b.Support)
		if err != nil {
			return objective.Binary{}, err
		}
		binary.Support, binary.SupportFile = support.Path, support.Digest
	}
	return binary, nil
}

// file returns the local copy of a blob, fetched again where somebody has changed it.
func (s *server) file(ctx context.Context, digest string) (entry cache.Entry, err error) {
	for range 2 {
		key := cache.NewKey().Add("what", "blob of a farm").Add("digest", digest)
		entry, err = s.cache.Get(key, func(path string) error {
			content, err := s.farm.Get(ctx, digest)
			if err != nil {
				return err
			}
			return os.WriteFile(path, content, 0o644)
		})
		if err != nil || entry.Digest == digest {
			return entry, err
		}
		_ = os.Remove(entry.Path)
	}
	return entry, fmt.Errorf("the copy of the farm's file %.12s has the digest %.12s", digest, entry.Digest)
}
