package serve

import (
	"context"
	"errors"
	"time"

	"pawl/objective"
	"pawl/objective/devices"
	"pawl/objective/worker"
	"pawl/studies/farm"
)

// Held is a side of a comparison, open on the device that the comparison holds.
type Held struct {
	Bench    *devices.Bench
	Prepared objective.Prepared
}

// compare opens the sides of a comparison and lets it have the device until it is done:
// nothing of this farm is measured there meanwhile.
func (s *server) compare(ctx context.Context, job farm.Job) (answer farm.Answer, err error) {
	if s.hold == nil {
		return answer, errors.New("this worker has no part in comparisons")
	}
	// As in a comparison on this machine alone, the sides share their processes.
	var residents worker.Residents
	defer residents.End()
	var sides []Held
	for _, side := range job.Sides {
		held, err := s.open(ctx, side, &residents)
		if err != nil {
			return answer, err
		}
		defer held.Bench.Close()
		sides = append(sides, held)
	}
	asked := time.Now()
	free, err := s.reserve(ctx, job.Subject.Definition.Backend, s.gpus)
	if err != nil {
		return answer, err
	}
	defer free()
	answer.Waited = time.Since(asked)
	s.benches.closeIdle(every)
	answer.Held, err = s.hold(ctx, sides, job.Held)
	return answer, err
}

func (s *server) open(ctx context.Context, side farm.Side, residents *worker.Residents) (held Held, err error) {
	if side.Compiled == nil || side.Compiled.Binary == nil {
		return held, errors.New("a side of the comparison has no binary")
	}
	target, err := s.target(ctx, side.Subject)
	if err != nil {
		return held, err
	}
	point, err := target.Point(side.Point)
	if err != nil {
		return held, err
	}
	o := side.Subject.Definition.Measuring()
	o.Residents = residents
	from := &fetched{server: s}
	if held.Bench, err = s.machine(side.Subject, false).OpenBuilt(ctx, target, o, from); err != nil {
		return held, err
	}
	if held.Prepared, err = from.prepare(ctx, held.Bench, point, side.Compiled); err != nil {
		held.Bench.Close()
	}
	return held, err
}
