package devices

import (
	"context"

	"pawl/kernels"
	"pawl/objective"
	"pawl/space"
)

// Target is a kernel with one of its workloads and its space.
type Target struct {
	Kernel   *kernels.Kernel
	Workload kernels.Workload
	Space    *space.Space
}

// NewTarget chooses a workload of a kernel; the empty name is the manifest's first.
// A name that the kernel does not have is an *ArgumentError.
func NewTarget(k *kernels.Kernel, workload string) (t Target, err error) {
	t.Kernel = k
	if t.Workload, err = k.Workload(workload); err != nil {
		var known []string
		for _, w := range k.Workloads {
			known = append(known, w.Name)
		}
		return t, &ArgumentError{err, workload, known}
	}
	t.Space, err = k.Space(t.Workload)
	return t, err
}

// Point reads a point; what it leaves out has its default. One that the space does
// not have is an *ArgumentError.
func (t Target) Point(text string) (space.Point, error) {
	partial, err := space.ParsePoint(text)
	if err != nil {
		return space.Point{}, &ArgumentError{Err: err}
	}
	point, err := t.Space.Complete(partial)
	if err != nil {
		return space.Point{}, &ArgumentError{Err: err}
	}
	return point, nil
}

// Bench is a target on its device. Close it to end its worker processes.
type Bench struct {
	Target
	Backend objective.Backend
	*objective.Evaluator
}

// Open connects a target with its device. Measurements of the day are kept beside the
// compiled kernels.
func (m *Machine) Open(ctx context.Context, t Target, o objective.Options) (*Bench, error) {
	compiled, err := m.cache()
	if err != nil {
		return nil, err
	}
	backend, err := m.backend(ctx, t, compiled)
	if err != nil {
		return nil, err
	}
	if !m.options.Forget {
		o.Measurements = compiled
	}
	return &Bench{t, backend, objective.NewEvaluator(t.Kernel, t.Workload, backend, o)}, nil
}

// OpenAt opens a kernel's workload and prepares a point of it, both by name. A point
// that does not compile is no error.
func (m *Machine) OpenAt(ctx context.Context, k *kernels.Kernel, workload, at string, o objective.Options) (*Bench, objective.Prepared, error) {
	var none objective.Prepared
	t, err := NewTarget(k, workload)
	if err != nil {
		return nil, none, err
	}
	point, err := t.Point(at)
	if err != nil {
		return nil, none, err
	}
	b, err := m.Open(ctx, t, o)
	if err != nil {
		return nil, none, err
	}
	prepared, err := b.Prepare(ctx, point)
	if err != nil {
		b.Close()
		return nil, none, err
	}
	return b, prepared, nil
}
