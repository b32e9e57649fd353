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

// judge tells whether the result of a run is right.
type judge func(worker.Result) (*Mismatch, error)

// load says how a worker gets a point ready for a case.
func (e *Evaluator) load(p Prepared, c Case, bindings []kernels.Binding) (worker.Load, error) {
	load := worker.Load{
		Module: p.Binary.Path, Support: p.Binary.Support, Entry: e.kernel.Entry,
		Arguments: bindings, Seed: c.Seed, Layout: c.layout(),
	}
	if !e.backend.Resident() {
		return load, nil // what runs on the processor is called, not launched
	}
	var err error
	load.Launch, err = e.kernel.Launch.Kernel.At(environment(c.Dims, p.Point))
	return load, err
}

// reference says how a worker gets the right answer for a case.
func (e *Evaluator) reference(c Case) (r worker.Reference, err error) {
	r = worker.Reference{Module: e.oracle.binary.Path, Entry: e.kernel.Entry, Tolerance: e.kernel.Tolerance}
	r.Launch, err = e.kernel.Launch.Reference.At(environment(c.Dims, e.initial))
	return r, err
}

// warm lets a fresh worker of a device that keeps things get the workload and
// its right answer ready, by loading the reference as if it were the kernel. An
// error would come again when the worker is used, so it is left for then.
func (e *Evaluator) warm(ctx context.Context, client *worker.Client) {
	c := e.workloadCase()
	bindings, err := c.bind(e.kernel)
	if err != nil {
		return
	}
	reference, err := e.reference(c)
	if err != nil {
		return
	}
	ctx, cancel := worker.Allow(ctx, referenceTimeout)
	defer cancel()
	_ = client.Load(ctx, worker.Load{
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

// expect returns who judges a case: the device, which is told the reference in
// the load, or the oracle in this process.
func (e *Evaluator) expect(ctx context.Context, s *session, c Case, load *worker.Load) (judge, error) {
	if e.backend.Resident() {
		reference, err := e.reference(c)
		load.Reference = &reference
		return judgeComparisons, err
	}
	want, bounds, err := e.oracle.know(ctx, s.slot.Worker, c, load.Arguments)
	return func(r worker.Result) (*Mismatch, error) { return e.oracle.judge(r.Outputs, want, bounds) }, err
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
