package devices

import (
	"context"
	"fmt"

	"pawl/objective"
	"pawl/objective/platform"
	"pawl/space"
)

// Binaries are compiled kernels of a target, from wherever they were compiled. Its methods
// answer as those of an objective.Backend.
type Binaries interface {
	Compile(context.Context, space.Point) (objective.Binary, *objective.Failure, error)
	Reference(context.Context, space.Point) (objective.Binary, error)
}

// built is a device of this machine that runs what was compiled elsewhere.
type built struct {
	objective.Backend
	from Binaries
}

func (b built) Compile(ctx context.Context, p space.Point) (objective.Binary, *objective.Failure, error) {
	return b.from.Compile(ctx, p)
}

func (b built) Reference(ctx context.Context, given space.Point) (objective.Binary, error) {
	return b.from.Reference(ctx, given)
}

var _ objective.Backend = built{}

// OpenBuilt connects a target with its device, for binaries from elsewhere: no compiler is
// needed here.
func (m *Machine) OpenBuilt(ctx context.Context, t Target, o objective.Options, from Binaries) (*Bench, error) {
	compiled, err := m.cache()
	if err != nil {
		return nil, err
	}
	lender, can := m.installed[t.Kernel.Backend].(platform.Lender)
	if !can {
		return nil, fmt.Errorf("backend %s runs nothing that was compiled elsewhere", t.Kernel.Backend)
	}
	inner, err := lender.OpenBuilt(ctx, t, compiled)
	if err != nil {
		return nil, err
	}
	backend := built{inner, from}
	o.Python = m.python(compiled)
	return &Bench{t, backend, objective.NewEvaluator(t.Kernel, t.Workload, backend, o)}, nil
}
