package cuda

import (
	"fmt"

	"pawl/kernels"
	"pawl/objective/cuda/driver"
	"pawl/objective/worker"
)

// guardSize is the number of bytes before and behind each buffer that a kernel
// must not touch; guardPattern fills them. As a float of any width it is not a
// number, so that what is read there by mistake spoils the result.
const (
	guardSize    = 4096
	guardPattern = 0xff
)

// buffer is one argument in the device's memory, between two guard zones.
type buffer struct {
	kernels.Binding
	element kernels.Element
	base    driver.Address // of the allocation
	data    driver.Address // of the first element
	size    int            // of the data, in bytes
	tail    int            // of the zone behind the data, in bytes
	sum     uint64         // the checksum of an input and its guard zones
	answer  driver.Address // the right output; 0 for an input
	right   uint64         // the checksum of the answer
}

// problem is one case on the device: inputs, outputs and the right answers. It
// stays there from one trial to the next.
type problem struct {
	device    *Device
	arguments []kernels.Binding
	guard     int       // bytes before and behind each buffer
	buffers   []*buffer // nil for scalars
	bytes     int       // of device memory
	// rotation holds further copies of the buffers for timing with cold caches.
	rotation [][]*buffer
	// launches are the arguments of launches on the buffers, and on each copy of
	// them. They stay: memory for them costs as much as a launch.
	launches []*parameters
	boxes    [][]int64 // the tiles of the tensor maps among them
}

// newProblem allocates and fills the arguments, and asks the reference for the
// right answers.
func newProblem(d *Device, load worker.Load) (*problem, error) {
	p := &problem{device: d, arguments: load.Arguments, guard: guardSize, buffers: make([]*buffer, len(load.Arguments))}
	if load.Watched {
		p.guard = 0
	}
	if err := p.build(load); err != nil {
		p.free()
		return nil, err
	}
	return p, nil
}

func (p *problem) build(load worker.Load) error {
	for i, argument := range load.Arguments {
		if !argument.IsBuffer() {
			continue
		}
		var err error
		if p.buffers[i], err = p.allocate(argument, load.Layout); err != nil {
			return err
		}
	}
	if err := p.fill(load.Seed); err != nil {
		return err
	}
	if load.Reference == nil {
		return nil
	}
	return p.solve(*load.Reference)
}

// allocate makes a buffer. A misaligned one starts at an address that is aligned
// as the manifest promises and no better.
func (p *problem) allocate(argument kernels.Binding, layout worker.Layout) (*buffer, error) {
	element, err := kernels.ElementNamed(argument.Type)
	if err != nil {
		return nil, err
	}
	b := &buffer{Binding: argument, element: element, size: int(argument.Count) * element.Size}
	offset := p.guard
	if layout == worker.Misaligned {
		offset += max(argument.Align, element.Size) % guardSize
	}
	total := offset + b.size + p.guard
	if b.base, err = p.memory(total); err != nil {
		return nil, err
	}
	b.data = b.base + driver.Address(offset)
	b.tail = p.guard
	d := p.device
	before, behind := b.guards()
	for _, z := range []zone{before, behind} {
		if z.size == 0 {
			continue
		}
		if err := d.context.Set(d.stream, z.at, guardPattern, z.size); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// memory allocates and counts.
func (p *problem) memory(size int) (driver.Address, error) {
	a, err := p.device.context.Allocate(size)
	if driver.CodeOf(err) == driver.OutOfMemory {
		return 0, &worker.Fault{Kind: worker.NoMemory, Detail: fmt.Sprintf("%d bytes for a buffer", size)}
	}
	if err == nil {
		p.bytes += size
	}
	return a, err
}

type zone struct {
	at   driver.Address
	size int
}

// whole is the size of the data with its guard zones.
func (b *buffer) whole() int { return int(b.data-b.base) + b.size + b.tail }

// guards are the zones before and behind the data. They are empty where a tool
// watches.
func (b *buffer) guards() (before, behind zone) {
	return zone{b.base, int(b.data - b.base)}, zone{b.data + driver.Address(b.size), b.tail}
}

// fill has the device write the inputs.
func (p *problem) fill(seed uint64) error {
	for _, b := range p.buffers {
		if b == nil || b.Out {
			continue
		}
		recipe, err := worker.NewRecipe(b.Binding, seed)
		if err != nil {
			return err
		}
		if err := p.device.support.fill(b.element, b.data, b.Count, recipe); err != nil {
			return err
		}
	}
	return p.identify(p.buffers)
}

// identify takes the checksums of a set's inputs.
func (p *problem) identify(buffers []*buffer) error {
	var inputs []*buffer
	for _, b := range buffers {
		if b == nil || b.Out {
			continue
		}
		if _, err := p.device.support.queueChecksum(b.base, b.whole()); err != nil {
			return err
		}
		inputs = append(inputs, b)
	}
	sums, err := p.device.support.collect()
	if err != nil {
		return err
	}
	for i, b := range inputs {
		b.sum = sums[i].bad
	}
	return nil
}

// solve runs the reference on the inputs, into buffers of its own. Whatever
// goes wrong here is not the kernel's fault.
func (p *problem) solve(reference worker.Reference) error {
	d := p.device
	function, err := d.function(reference.Module, reference.Entry)
	if err != nil {
		return fmt.Errorf("the reference: %w", plain(err))
	}
	parameters, err := p.parametersFor(p.buffers)
	if err != nil {
		return err
	}
	defer parameters.free()
	for i, b := range p.buffers {
		if b == nil || !b.Out {
			continue
		}
		if b.answer, err = p.memory(b.size); err != nil {
			return err
		}
		if err := d.context.Set(d.stream, b.answer, guardPattern, b.size); err != nil {
			return err
		}
		parameters.setAddress(i, b.answer)
	}
	if err := d.start(function, reference.Launch, parameters); err != nil {
		return fmt.Errorf("the reference: %w", plain(err))
	}
	if err := d.context.Wait(d.stream); err != nil {
		return fmt.Errorf("the reference: %w", plain(err))
	}
	for _, b := range p.buffers {
		if b == nil || !b.Out {
			continue
		}
		if b.right, err = d.support.checksum(b.answer, b.size); err != nil {
			return err
		}
	}
	return nil
}

// plain makes an error of a fault: a fault would be blamed on the kernel.
func plain(err error) error { return fmt.Errorf("%s", err) }

// parametersFor returns the arguments of a launch on the given buffers.
func (p *problem) parametersFor(buffers []*buffer) (*parameters, error) {
	maps := 0
	for _, argument := range p.arguments {
		if argument.Map != nil {
			maps++
		}
	}
	parameters, err := newParameters(len(p.arguments), maps)
	if err != nil {
		return nil, err
	}
	for i, argument := range p.arguments {
		if argument.Map != nil {
			if err := p.describe(parameters.tensorMap(i), argument.Map, buffers, i-(len(p.arguments)-maps)); err != nil {
				parameters.free()
				return nil, err
			}
			continue
		}
		if b := buffers[i]; b != nil {
			parameters.setAddress(i, b.data)
			continue
		}
		element, err := kernels.ElementNamed(argument.Type)
		if err != nil {
			parameters.free()
			return nil, err
		}
		element.Store(parameters.value(i), argument.Value)
	}
	return parameters, nil
}

// parameters returns the arguments of a launch on the buffers, 0, or on a copy of
// them.
func (p *problem) parameters(set int) (*parameters, error) {
	for len(p.launches) <= set {
		buffers := p.buffers
		if at := len(p.launches); at > 0 {
			buffers = p.rotation[at]
		}
		next, err := p.parametersFor(buffers)
		if err != nil {
			return nil, err
		}
		p.launches = append(p.launches, next)
	}
	return p.launches[set], nil
}

// footprint is what one launch reads and writes, in bytes.
func (p *problem) footprint() int {
	total := 0
	for _, b := range p.buffers {
		if b != nil {
			total += b.size
		}
	}
	return total
}

// copies returns n sets of buffers with the same inputs; the first is the one
// that was checked.
func (p *problem) copies(n int) ([][]*buffer, error) {
	if len(p.rotation) == 0 {
		p.rotation = append(p.rotation, p.buffers)
	}
	for len(p.rotation) < n {
		set := make([]*buffer, len(p.buffers))
		p.rotation = append(p.rotation, set) // freed with the problem, complete or not
		for i, original := range p.buffers {
			if original == nil {
				continue
			}
			b, err := p.allocate(original.Binding, worker.Aligned)
			if err != nil {
				return nil, err
			}
			b.answer, b.right = original.answer, original.right
			set[i] = b
			if b.Out {
				continue
			}
			if err := p.device.context.Copy(b.data, original.data, b.size); err != nil {
				return nil, err
			}
		}
		if err := p.identify(set); err != nil {
			return nil, err
		}
	}
	return p.rotation[:n], nil
}

// free gives the memory back. Errors mean that the context is gone, and the
// memory with it.
func (p *problem) free() {
	for i, set := range append([][]*buffer{p.buffers}, p.rotation...) {
		if i == 1 {
			continue // the first of the rotation is the problem's own
		}
		for _, b := range set {
			if b == nil {
				continue
			}
			_ = p.device.context.Free(b.base)
			if i == 0 && b.answer != 0 {
				_ = p.device.context.Free(b.answer)
			}
		}
	}
	p.buffers, p.rotation = nil, nil
	for _, l := range p.launches {
		l.free()
	}
	p.launches = nil
}
