package serve

import (
	"bytes"
	"context"

	"pawl/objective"
	"pawl/search/replay"
	"pawl/space"
	"pawl/studies/farm"
)

// replay answers from a record: a device that is always there, to try a farm with.
func (s *server) replay(ctx context.Context, job farm.Job) (farm.Answer, error) {
	return s.benches.with("replay", job.Subject, func(b *bench) error {
		content, err := s.farm.Get(ctx, job.Subject.Record)
		if err != nil {
			return err
		}
		record, err := replay.Read(bytes.NewReader(content))
		if err != nil {
			return err
		}
		recorded, err := replay.New(record)
		if err != nil {
			return err
		}
		b.evaluator = replay.NewEvaluator(recorded, job.Subject.Definition.Seed)
		return nil
	}, func(b *bench) (farm.Answer, error) { return s.replayWith(ctx, b, job) })
}

func (s *server) replayWith(ctx context.Context, b *bench, job farm.Job) (answer farm.Answer, err error) {
	point, err := space.ParsePoint(job.Point)
	if err != nil {
		return answer, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if job.Action == farm.Compile {
		p, err := b.evaluator.Prepare(ctx, point)
		answer.Compiled = &farm.Compiled{Failure: p.Failure, Spent: p.Spent, Binary: &farm.Binary{Built: p.Binary}}
		return answer, err
	}
	prepared := objective.Prepared{Point: point}
	if c := job.Compiled; c != nil {
		prepared.Failure, prepared.Spent = c.Failure, c.Spent
	}
	return s.on(ctx, b, job, prepared)
}
