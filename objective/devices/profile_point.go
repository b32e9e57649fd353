package devices

import (
	"context"

	"pawl/objective"
	"pawl/objective/profile"
	"pawl/space"
)

// Subject is a bench as package profile looks at it.
func (m *Machine) Subject(b *Bench) profile.Subject {
	return profile.Subject{
		Kernel: b.Kernel, Workload: b.Workload, Backend: b.Backend, Evaluator: b.Evaluator, Getenv: m.tools.Getenv,
	}
}

// Profile compiles, checks and times a point, and profiles one launch of it. A failure is the
// point's own. Where no profiler can look, NoMetrics says why, and all else is there.
func (m *Machine) Profile(ctx context.Context, t Target, point space.Point,
	o profile.Options) (*profile.Profile, *objective.Failure, error) {
	b, err := m.Open(ctx, t, objective.Options{Seed: o.Seed, Caches: o.Caches, RunTimeout: o.RunTimeout})
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	prepared, err := b.Evaluator.Prepare(ctx, point)
	if err != nil || prepared.Failure != nil {
		return nil, prepared.Failure, err
	}
	outcome, err := b.Evaluator.Measure(ctx, prepared, 0)
	if err != nil || outcome.Failure != nil {
		return nil, outcome.Failure, err
	}
	b.Evaluator.End() // the workers that measured leave the device to the profiler's
	p, err := profile.Of(ctx, m.Subject(b), prepared, outcome.Milliseconds(), o)
	return p, nil, err
}
