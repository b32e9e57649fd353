package cuda

import (
	"fmt"

	"pawl/kernels/element"
	"pawl/objective/cuda/driver"
	"pawl/objective/worker"
)

// Run runs the kernel on poisoned outputs, and compares on the device. The poison
// alternates between runs, so that an element that was never written cannot pass: bytes
// that are no number in any float type, then random numbers, which no kernel can
// recognize as poison.
//
// Everything is queued and then waited for once. If the kernel breaks the
// context, that is what the wait says.
func (d *Device) Run(run worker.Run) (worker.Result, error) {
	if d.steps == nil {
		return worker.Result{}, fmt.Errorf("run before load")
	}
	parameters, err := d.on.parameters(d.on.buffers)
	if err != nil {
		return worker.Result{}, err
	}
	d.on.expect(d.on.buffers, d.on.contents[0])
	seen := &inspection{device: d, shares: run.Bitwise, bits: map[*buffer]uint64{}}
	twice := run.Twice && !run.Profiled
	if twice {
		if err := d.runOnce(parameters, false); err != nil {
			return worker.Result{}, err
		}
		seen.queueComparisons(d.on.buffers)
		if run.Bitwise {
			seen.queueBits(d.on.buffers)
		}
	}
	if err := d.runOnce(parameters, run.Profiled); err != nil {
		return worker.Result{}, err
	}
	if twice && run.Bitwise {
		seen.queueBits(d.on.buffers)
	}
	seen.queueDamage(d.on.buffers)
	seen.queueResults(d.on.buffers)
	if err := seen.collect(); err != nil {
		return worker.Result{}, fault(err)
	}
	result := worker.Result{Damage: seen.damage, Comparisons: seen.comparisons, Differs: seen.differs}
	if d.loaded.Reference == nil && result.Damage == nil {
		result.Outputs, err = d.outputs()
	}
	return result, err
}

func (d *Device) runOnce(parameters *parameters, profiled bool) error {
	d.plausible = !d.plausible
	poison := d.plausiblePoison
	if d.poison = 0xff; !d.plausible {
		poison = d.poisonOutputs
	}
	buffers := d.on.buffers
	if d.loaded.Watched {
		poison, buffers = d.poisonOutputs, d.mapped(buffers)
	}
	if err := poison(buffers); err != nil {
		return err
	}
	if err := d.on.restore(d.on.buffers, d.on.contents[0]); err != nil {
		return err
	}
	if profiled {
		return d.startProfiled(parameters)
	}
	return d.launch(parameters)
}

// startProfiled launches the kernel in a range that a profiler looks at: fills, references
// and comparisons, some of which have the same name, lie outside of it.
func (d *Device) startProfiled(parameters *parameters) error {
	if err := d.context.Synchronize(); err != nil {
		return fault(err)
	}
	if err := d.context.StartProfiler(); err != nil {
		return err
	}
	if err := d.launch(parameters); err != nil {
		return err
	}
	if err := d.context.Synchronize(); err != nil {
		return fault(err)
	}
	return d.context.StopProfiler()
}

// element reads one element, for a person.
func (d *Device) element(e element.Type, at driver.Address) (string, error) {
	raw := make([]byte, e.Size)
	err := d.context.ToHost(raw, at)
	return e.Text(raw), err
}

// outputs copies the results to the host, for a client that compares itself.
func (d *Device) outputs() ([][]byte, error) {
	var outputs [][]byte
	for _, b := range d.on.buffers.outputs() {
		content := make([]byte, b.size)
		if err := d.context.ToHost(content, b.data); err != nil {
			return nil, err
		}
		outputs = append(outputs, b.Parts(content)...)
	}
	return outputs, nil
}
