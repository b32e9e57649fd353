package serve

import (
	"context"
	"errors"
	"time"

	"pawl/objective/devices"
	"pawl/objective/worker"
	"pawl/studies/farm"
)

// compare opens the sides of a comparison and lets it have the device until it is done:
// nothing of this farm is measured there meanwhile.
func (s *server) compare(ctx context.Context, job farm.Job) (answer farm.Answer, err error) {
	if s.Hold == nil {
		return answer, errors.New("this worker has no part in comparisons")
	}
	// As in a comparison on this machine alone, the sides share their processes.
	var residents worker.Residents
	defer residents.End()
	var sides []*devices.Configuration
	for _, side := range job.Sides {
		held, err := s.open(ctx, side, &residents)
		if err != nil {
			return answer, err
		}
		defer held.Close()
		sides = append(sides, held)
	}
	asked := time.Now()
	free, err := s.reserve(ctx, job.Subject.Definition.Backend, s.gpus)
	if err != nil {
		return answer, err
	}
	defer free()
	answer.Waited = time.Since(asked)
	s.benches.closeIdle()
	answer.Held, err = s.Hold(ctx, sides, job.Held)
	return answer, err
}

func (s *server) open(ctx context.Context, side farm.Side,
	residents *worker.Residents) (*devices.Configuration, error) {
	bench, from, err := s.openBuilt(ctx, side.Subject, residents)
	if err != nil {
		return nil, err
	}
	prepared, err := from.prepare(ctx, bench, side.Point, side.Compiled)
	if err != nil {
		bench.Close()
	}
	return &devices.Configuration{Bench: bench, Prepared: prepared}, err
}
