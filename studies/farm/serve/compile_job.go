package serve

import (
	"context"
	"os"
	"time"

	"pawl/objective"
	"pawl/objective/cache"
	"pawl/space"
	"pawl/studies/farm"
)

func (s *server) build(ctx context.Context, job farm.Job) (farm.Answer, error) {
	return s.benches.with("build", job.Subject, func(b *bench) error {
		target, err := s.target(ctx, job.Subject)
		if err != nil {
			return err
		}
		o := job.Subject.Definition.Measuring()
		o.CompileOnly = true
		b.bench, err = s.machine(job.Subject, true).Open(ctx, target, o)
		return err
	}, func(b *bench) (farm.Answer, error) { return s.buildWith(ctx, b, job) })
}

func (s *server) buildWith(ctx context.Context, b *bench, job farm.Job) (answer farm.Answer, err error) {
	if err := s.cores.Acquire(ctx, 1); err != nil {
		return answer, context.Cause(ctx)
	}
	defer s.cores.Release(1)
	switch job.Action {
	case farm.DescribeBuild:
		answer.Description = &farm.Description{Environment: b.bench.Backend.Facts().Environment}
	case farm.Compile:
		answer.Compiled, err = s.compile(ctx, b, job)
	}
	return answer, err
}

func (s *server) compile(ctx context.Context, b *bench, job farm.Job) (*farm.Compiled, error) {
	point, err := b.bench.Point(job.Point)
	if err != nil {
		return nil, err
	}
	prepared, err := b.bench.Evaluator.Prepare(ctx, point)
	if err != nil {
		return nil, err
	}
	compiled := &farm.Compiled{Failure: prepared.Failure, Spent: prepared.Spent}
	if prepared.Failure != nil {
		return compiled, nil
	}
	if compiled.Binary, err = s.keep(ctx, prepared.Binary); err != nil {
		return nil, err
	}
	return compiled, s.addReferences(ctx, b, point, compiled)
}

func (s *server) addReferences(ctx context.Context, b *bench, point space.Point, compiled *farm.Compiled) error {
	k := b.bench.Kernel
	if k.Answered() || k.PythonReference() {
		return nil
	}
	reference, err := b.bench.Backend.Reference(ctx, k.ReferencePoint(point))
	if err == nil {
		compiled.Reference, err = s.keep(ctx, reference)
	}
	return err
}

// storedFor is how long what was given to the farm is taken to be there: what was used in
// the last ten minutes is not evicted.
const storedFor = 5 * time.Minute

func (s *server) keep(ctx context.Context, b objective.Binary) (kept *farm.Binary, err error) {
	kept = &farm.Binary{Built: b}
	if kept.Module, err = s.put(ctx, b.Path); err == nil && b.Support != "" {
		kept.Support, err = s.put(ctx, b.Support)
	}
	return kept, err
}

// put stores a file, unless it has just been stored.
func (s *server) put(ctx context.Context, path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	digest := cache.Digest(content)
	if at, known := s.stored.Load(digest); known && time.Since(at.(time.Time)) < storedFor {
		return digest, nil
	}
	start := time.Now()
	if digest, err = s.farm.Put(ctx, content); err == nil {
		s.stored.Store(digest, start)
	}
	return digest, err
}
