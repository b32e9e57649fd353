package devices

import (
	"context"
	"fmt"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/platform"
	"pawl/space"
)

// Bench is a target on its device. Close it to end its worker processes.
type Bench struct {
	Target
	Backend   objective.Backend
	Evaluator *objective.Evaluator
}

// Close ends the worker processes, and removes what was built for this bench alone.
func (b *Bench) Close() {
	b.Evaluator.Close()
	if temporary, ok := b.Backend.(interface{ Close() }); ok {
		temporary.Close()
	}
}

// Open connects a target with its device.
func (m *Machine) Open(ctx context.Context, t Target, o objective.Options) (*Bench, error) {
	return m.open(ctx, t, o, m.installed[t.Kernel.Backend].Open)
}

// OpenBuilt connects a target with its device, for binaries from elsewhere: no compiler is needed here. Built returns
// the device with their Compile and Reference.
func (m *Machine) OpenBuilt(ctx context.Context, t Target, o objective.Options,
	built func(device objective.Backend) objective.Backend) (*Bench, error) {
	lender, can := m.installed[t.Kernel.Backend].(platform.Lender)
	if !can {
		return nil, fmt.Errorf("backend %s runs nothing that was compiled elsewhere", t.Kernel.Backend)
	}
	return m.open(ctx, t, o, func(ctx context.Context, t Target, c *cache.Cache) (objective.Backend, error) {
		device, err := lender.OpenBuilt(ctx, t, c)
		return built(device), err
	})
}

func (m *Machine) open(ctx context.Context, t Target, o objective.Options,
	open func(context.Context, Target, *cache.Cache) (objective.Backend, error)) (*Bench, error) {
	compiled, err := m.cache()
	if err != nil {
		return nil, err
	}
	backend, err := open(ctx, t, compiled)
	if err != nil {
		return nil, err
	}
	o.Python = m.python
	return &Bench{t, backend, objective.NewEvaluator(t.Kernel, t.Workload, backend, o)}, nil
}

// OpenAt opens a kernel's workload and prepares a point of it, both by name. A point
// that does not compile is no error.
func (m *Machine) OpenAt(ctx context.Context, k *kernels.Kernel, workload, at string,
	o objective.Options) (*Configuration, error) {
	t, err := NewTarget(k, workload)
	if err != nil {
		return nil, err
	}
	point, err := t.Point(at)
	if err != nil {
		return nil, err
	}
	b, err := m.Open(ctx, t, o)
	if err != nil {
		return nil, err
	}
	prepared, err := b.Evaluator.Prepare(ctx, point)
	if err != nil {
		b.Close()
		return nil, err
	}
	return &Configuration{b, prepared}, nil
}

// preflightLimit is the largest pool that is put through preflight before the
// search; points of a larger one are checked when they are asked for.
const preflightLimit = 200_000

// Feasible removes the points that the machine's limits rule out, so that no
// trial is spent on them, and counts them by the limit. The default stays: if
// it is infeasible, the first trial says so. Limits may be nil.
func Feasible(pool *space.Pool, limits objective.Limits) (*space.Pool, map[string]int, error) {
	removed := map[string]int{}
	if pool.Len() > preflightLimit || limits == nil {
		return pool, removed, nil
	}
	initial, counting := pool.Space().Default(), true
	kept, err := pool.Filter(func(p space.Point) bool {
		failure := limits.Preflight(p)
		if failure == nil || p == initial {
			return true
		}
		if counting { // later it is asked about points that a search looks at
			removed[failure.Detail]++
		}
		return false
	})
	counting = false
	return kept, removed, err
}
