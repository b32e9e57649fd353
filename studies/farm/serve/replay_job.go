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
		b.replay = replay.NewEvaluator(recorded, job.Subject.Definition.Seed)
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
	prepared := objective.Prepared{Point: point}
	if job.Compiled != nil {
		prepared.Failure, prepared.Spent = job.Compiled.Failure, job.Compiled.Spent
		if job.Compiled.Binary != nil {
			prepared.Binary = job.Compiled.Binary.Built
		}
	}
	var outcome objective.Outcome
	switch job.Action {
	case farm.Compile:
		if prepared, err = b.replay.Prepare(ctx, point); err == nil {
			answer.Compiled = &farm.Compiled{
				Failure: prepared.Failure,
				Spent:   prepared.Spent,
				Binary:  &farm.Binary{Built: prepared.Binary},
			}
		}
	case farm.Measure:
		outcome, err = b.replay.Measure(ctx, prepared, job.Incumbent)
		answer.Outcome = &outcome
	case farm.Verify:
		answer.Failure, err = b.replay.Verify(ctx, prepared)
	case farm.Sample:
		outcome, err = b.replay.Sample(ctx, prepared, job.Samples)
		answer.Outcome = &outcome
	}
	outcome.Device = s.identity
	return answer, err
}
