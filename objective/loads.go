package objective

import (
	"context"
	"encoding/json"
	"fmt"

	"pawl/kernels"
	"pawl/objective/cache"
	"pawl/objective/worker"
	"pawl/space"
)

// load says how a worker gets a point ready for a case, and, on a device that
// compares by itself, how it gets the right answer.
func (e *Evaluator) load(p Prepared, c Case) (worker.Load, error) {
	bindings, err := c.bind(e.kernel)
	if err != nil {
		return worker.Load{}, err
	}
	load := worker.Load{
		Module: p.Binary.Path, Support: p.Binary.Support, Entry: e.kernel.Entry,
		Arguments: bindings, Seed: c.Seed, Layout: c.layout(),
	}
	if !e.backend.Resident() {
		return load, nil // what runs on the processor is called, not launched
	}
	if load.Launch, err = e.kernel.Launch.Kernel.At(environment(c.Dims, p.Point)); err != nil {
		return load, err
	}
	reference, err := e.reference(c)
	load.Reference = &reference
	return load, err
}

// reference says how a worker gets the right answer for a case.
func (e *Evaluator) reference(c Case) (r worker.Reference, err error) {
	r = worker.Reference{Module: e.oracle.binary.Path, Entry: e.kernel.Entry, Tolerance: e.kernel.Tolerance}
	r.Launch, err = e.kernel.Launch.Reference.At(environment(c.Dims, e.initial))
	return r, err
}

// warm lets a fresh worker of a device that keeps things get the workload and
// its right answer ready, by loading the reference as if it were the kernel. Under
// a tool that would take long, and the workload is not run there.
func (e *Evaluator) warm(ctx context.Context, slot Slot, client *worker.Client) error {
	if len(slot.Worker.Under) > 0 {
		return nil
	}
	c := e.workloadCase()
	bindings, err := c.bind(e.kernel)
	if err != nil {
		return err
	}
	reference, err := e.reference(c)
	if err != nil {
		return err
	}
	ctx, cancel := worker.Allow(ctx, referenceTimeout)
	defer cancel()
	return client.Load(ctx, worker.Load{
		Module: reference.Module, Support: e.oracle.binary.Support, Entry: reference.Entry, Launch: reference.Launch,
		Arguments: bindings, Seed: c.Seed, Layout: c.layout(), Reference: &reference,
	})
}

// Problem identifies what the kernel is called with when it is timed.
func (e *Evaluator) Problem() (string, error) {
	bindings, err := e.workloadCase().bind(e.kernel)
	if err != nil {
		return "", err
	}
	encoded, err := json.Marshal(bindings)
	return cache.Digest(encoded), err
}

// environment holds the sizes of a case and the values of a point.
func environment(dims kernels.Dims, point space.Point) space.Environment {
	env := dims.Environment()
	env.Set(point)
	return env
}

// judgeComparisons returns the first output that a device found wrong.
func judgeComparisons(result worker.Result) (*Mismatch, error) {
	if len(result.Comparisons) == 0 {
		return nil, fmt.Errorf("the device compared nothing")
	}
	for _, c := range result.Comparisons {
		switch {
		case c.Undefined > 0:
			return nil, fmt.Errorf("the reference gives %d values for %s that are not finite: the oracle is broken", c.Undefined, c.Argument)
		case c.Bad > 0:
			return &Mismatch{
				Argument: c.Argument, First: int(c.First), Got: float64(c.Got), Want: float64(c.Want),
				Worst: float64(c.Worst), Bad: int(c.Bad), Total: int(c.Total),
			}, nil
		}
	}
	return nil, nil
}
