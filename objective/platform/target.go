package platform

import (
	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/space"
)

// Target is a kernel with one of its workloads and its space.
type Target struct {
	Kernel   *kernels.Kernel
	Workload kernels.Workload
	Space    *space.Space
}

// NewTarget chooses a workload of a kernel, which decides about its types; the empty name is the manifest's first.
// A name that the kernel does not have is an *ArgumentError.
func NewTarget(k *kernels.Kernel, workload string) (t Target, err error) {
	if t.Workload, err = k.Workload(workload); err != nil {
		known := collect.Each(k.Workloads, func(w kernels.Workload) string { return w.Name })
		return t, &ArgumentError{err, workload, known}
	}
	if t.Kernel, err = k.For(t.Workload.Dims); err != nil {
		return t, err
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

// ArgumentError says that something was asked for by a name or a text that means
// nothing.
type ArgumentError struct {
	Err error
	// Name is what was asked for, Known what might have been meant.
	Name  string
	Known []string
}

func (e *ArgumentError) Error() string { return e.Err.Error() }
func (e *ArgumentError) Unwrap() error { return e.Err }
