package cuda

import (
	"fmt"

	"pawl/objective/cuda/driver"
	"pawl/objective/worker"
)

// Run runs the kernel once on poisoned outputs, and compares on the device. The
// poison alternates between runs, so that no right answer can hide an element
// that was never written.
func (d *Device) Run() (worker.Result, error) {
	if d.kernel == 0 {
		return worker.Result{}, fmt.Errorf("run before load")
	}
	d.poison ^= 0x55 // 0xff is a NaN in every float type, 0xaa a tiny number
	parameters, err := d.on.parametersFor(d.on.buffers)
	if err != nil {
		return worker.Result{}, err
	}
	defer parameters.free()
	if err := d.poisonOutputs(d.on.buffers); err != nil {
		return worker.Result{}, err
	}
	if err := d.start(d.kernel, d.loaded.Launch, parameters); err != nil {
		return worker.Result{}, err
	}
	if err := d.context.Wait(d.stream); err != nil {
		return worker.Result{}, fault(err)
	}
	var result worker.Result
	if result.Damage, err = d.damage(d.on.buffers); err != nil || result.Damage != nil {
		return result, err
	}
	if d.loaded.Reference == nil {
		result.Outputs, err = d.outputs()
		return result, err
	}
	result.Comparisons, err = d.compareAll(d.on.buffers)
	return result, err
}

func (d *Device) poisonOutputs(buffers []*buffer) error {
	for _, b := range buffers {
		if b == nil || !b.Out {
			continue
		}
		if err := d.context.Set(d.stream, b.data, d.poison, b.size); err != nil {
			return err
		}
	}
	return nil
}

// damage looks for what a kernel may not do beside its result: write beside a
// buffer, to an input, or over the right answers.
func (d *Device) damage(buffers []*buffer) (*worker.Fault, error) {
	for _, b := range buffers {
		if b == nil {
			continue
		}
		for _, zone := range b.guards() {
			changed, err := d.support.changed(zone.at, zone.size, guardPattern)
			if err != nil {
				return nil, err
			}
			if changed > 0 {
				return &worker.Fault{Kind: worker.OutOfBounds, Detail: fmt.Sprintf("%d bytes written %s of %s", changed, zone.what, b.Name)}, nil
			}
		}
		at, size, want, what := b.data, b.size, b.sum, worker.Fault{Kind: worker.InputModified, Detail: b.Name}
		if b.Out {
			at, want = b.answer, b.right
			what = worker.Fault{Kind: worker.OutOfBounds, Detail: "wrote over the reference's result for " + b.Name}
		}
		if at == 0 {
			continue // an output without an answer
		}
		sum, err := d.support.checksum(at, size)
		if err != nil {
			return nil, err
		}
		if sum != want {
			return &what, nil
		}
	}
	return nil, nil
}

// compareAll compares every output with its answer.
func (d *Device) compareAll(buffers []*buffer) ([]worker.Comparison, error) {
	var comparisons []worker.Comparison
	for _, b := range buffers {
		if b == nil || !b.Out {
			continue
		}
		found, err := d.support.compareBuffers(b.element, b.data, b.answer, b.Count, d.loaded.Reference.Tolerance)
		if err != nil {
			return nil, err
		}
		c := worker.Comparison{Argument: b.Name, Bad: int64(found.bad), Total: b.Count, Undefined: int64(found.undefined)}
		if found.bad > 0 {
			c.First, c.Worst = int64(found.first), worker.Real(found.worst)
			if c.Got, err = d.element(b, b.data, c.First); err != nil {
				return nil, err
			}
			if c.Want, err = d.element(b, b.answer, c.First); err != nil {
				return nil, err
			}
		}
		comparisons = append(comparisons, c)
	}
	return comparisons, nil
}

// element reads one element of a buffer.
func (d *Device) element(b *buffer, start driver.Address, index int64) (worker.Real, error) {
	raw := make([]byte, b.element.Size)
	err := d.context.ToHost(raw, start+driver.Address(index*int64(b.element.Size)))
	return worker.Real(b.element.Load(raw)), err
}

// outputs copies the results to the host, for a client that compares itself.
func (d *Device) outputs() ([][]byte, error) {
	var outputs [][]byte
	for _, b := range d.on.buffers {
		if b == nil || !b.Out {
			continue
		}
		content := make([]byte, b.size)
		if err := d.context.ToHost(content, b.data); err != nil {
			return nil, err
		}
		outputs = append(outputs, content)
	}
	return outputs, nil
}
