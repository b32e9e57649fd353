package check

import (
	"context"
	"fmt"
	"math"

	"pawl/kernels"
	"pawl/objective/worker"
)

// bounds returns the tolerance of every output for a case. A derived one is so
// many times the largest error that the naive implementation makes there, and one
// step of the type: no implementation can do better than round.
func (o *Oracle) bounds(ctx context.Context, command worker.Command, c Case, bindings []kernels.Binding, want [][]byte) ([]kernels.Tolerance, error) {
	stated := o.kernel.Tolerance
	bounds := make([]kernels.Tolerance, len(want))
	for i := range bounds {
		bounds[i] = stated
	}
	if stated.Derived == 0 {
		return bounds, nil
	}
	if known, ok := o.derived[c.key()]; ok {
		return known, nil
	}
	got, err := o.compute(ctx, command, o.naive, c, bindings)
	if err != nil {
		o.stop()
		return nil, fmt.Errorf("naive implementation of %s at %s: %w", o.kernel.Name, c.Dims, err)
	}
	// One that is far off would excuse everything.
	mismatch, err := Answer{o.kernel, want, bounds}.Compare(got)
	if err != nil {
		return nil, err
	}
	if mismatch != nil {
		return nil, fmt.Errorf("naive implementation of %s at %s must keep atol and rtol itself: %s", o.kernel.Name, c.Dims, mismatch)
	}
	for i, argument := range outputs(o.kernel) {
		bounds[i] = kernels.Tolerance{Absolute: stated.Derived * worst(argument.Element, got[i], want[i]), Relative: argument.Element.Step()}
	}
	o.derived[c.key()] = bounds
	return bounds, nil
}

// worst returns the largest error of a result.
func worst(e kernels.Element, got, want []byte) float64 {
	largest := 0.0
	for at := 0; at < len(want); at += e.Size {
		largest = math.Max(largest, math.Abs(e.Load(got[at:])-e.Load(want[at:])))
	}
	return largest
}

// outputs returns the arguments that a kernel writes.
func outputs(k *kernels.Kernel) []kernels.Argument {
	var found []kernels.Argument
	for _, a := range k.Arguments {
		if a.Out {
			found = append(found, a)
		}
	}
	return found
}
