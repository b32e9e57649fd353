package objective

import (
	"context"
	"encoding/json"

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
	env := environment(c.Dims, p.Point)
	if load.Launch, err = e.kernel.Launch.Kernel.At(env); err != nil {
		return load, err
	}
	if load.Boxes, err = e.kernel.Boxes(env); err != nil {
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
	return e.answer(ctx, client, e.initial, e.workloadCase())
}

// answer lets a worker get a case and its right answer ready.
func (e *Evaluator) answer(ctx context.Context, client *worker.Client, point space.Point, c Case) error {
	load, err := e.load(Prepared{Point: point, Binary: e.oracle.binary}, c)
	if err != nil {
		return err
	}
	load.Launch = load.Reference.Launch
	ctx, cancel := worker.Allow(ctx, referenceTimeout)
	defer cancel()
	return client.Load(ctx, load)
}

// Anticipate works out the right answers that a point will be checked against,
// for a device that has time to spare while the point is compiled. What goes wrong
// shows when it is checked.
func (e *Evaluator) Anticipate(ctx context.Context, point space.Point) error {
	if err := e.oracle.ready(ctx); err != nil {
		return err
	}
	return e.onDevice(ctx, Prepared{Point: point, Binary: e.oracle.binary}, func(s *session) error {
		for _, c := range e.quick(point) {
			if err := e.answer(ctx, s.client, point, c); err != nil {
				s.distrust()
				return ctx.Err()
			}
		}
		return nil
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
