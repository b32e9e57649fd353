package cuda

import (
	"fmt"
	"time"

	"pawl/kernels/arguments"
	"pawl/kernels/inputs"
	"pawl/objective/cuda/driver"
	"pawl/objective/worker"
)

// problem is one case on the device: inputs, outputs and the right answers. It
// stays there from one trial to the next.
type problem struct {
	device  *Device
	key     [32]byte // what it depends on
	guard   int      // bytes before and behind each buffer
	buffers set
	bytes   int // of device memory
	// load is what the problem was made for, without the kernel under test.
	load worker.Load
	// contents are inputs with known answers: the one that checks have, then those that timed
	// launches see once.
	contents []content
	solving  time.Duration // what the known answers of timed launches took
	// rotation holds the sets of buffers for timing.
	rotation []set
	owned    []zone // the memory of all but rotation, and slabs that of rotation
	slabs    []zone
	// launch is the arguments of launches. They stay: memory for them costs as much as a
	// launch.
	launch *parameters
}

// newProblem allocates and fills the arguments, and asks the reference for the
// right answers.
func newProblem(d *Device, load worker.Load) (_ *problem, err error) {
	p := &problem{device: d, load: load, guard: guardSize, buffers: make(set, len(load.Arguments))}
	if load.Watched {
		p.guard = 0
	}
	defer func() {
		if err != nil {
			p.free()
		}
	}()
	for i, argument := range load.Arguments {
		if !argument.IsBuffer() {
			continue
		}
		if p.buffers[i], err = p.allocate(argument, load.Layout); err != nil {
			return nil, err
		}
	}
	if err := p.fill(p.buffers, load.Seed); err != nil {
		return nil, err
	}
	if err := p.identify(p.buffers); err != nil {
		return nil, err
	}
	known := content{seed: load.Seed}
	if err := p.keep(p.buffers, &known); err != nil {
		return nil, err
	}
	if err := p.solve(p.buffers, &known); err != nil {
		return nil, err
	}
	p.contents = append(p.contents, known)
	p.expect(p.buffers, known)
	return p, nil
}

// allocate makes a buffer. A misaligned one starts at an address that is aligned
// as the manifest promises and no better.
func (p *problem) allocate(argument arguments.Binding, layout worker.Layout) (b *buffer, err error) {
	b = &buffer{Binding: argument, element: argument.Element(), size: argument.Bytes()}
	offset := p.guard
	if layout == worker.Misaligned {
		offset += max(argument.Align, b.element.Size) % guardSize
	}
	total := offset + b.size + p.guard
	if b.base, err = p.memory(&p.owned, total); err != nil {
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

// memory gets memory that is released with a list.
func (p *problem) memory(list *[]zone, size int) (driver.Address, error) {
	a, err := p.device.context.Allocate(max(size, 1))
	if driver.CodeOf(err) == driver.OutOfMemory {
		return 0, &worker.Fault{Kind: worker.NoMemory, Detail: fmt.Sprintf("%d bytes for a buffer", size)}
	}
	if err == nil {
		*list = append(*list, zone{a, size})
		p.bytes += size
	}
	return a, err
}

// release gives memory back. Errors mean that the context is gone, and the memory with it.
func (p *problem) release(list *[]zone) {
	for _, z := range *list {
		_ = p.device.context.Free(z.at)
		p.bytes -= z.size
	}
	*list = nil
}

// fill writes the inputs of a set, and what its kernel changes.
func (p *problem) fill(buffers set, seed uint64) error {
	for _, b := range buffers.those(func(b *buffer) bool { return !b.written() || b.Restored }) {
		if err := p.fillBuffer(b, seed); err != nil {
			return err
		}
	}
	return nil
}

// fillBuffer has the device write an input; one that is computed as a whole, or is in a file, is
// uploaded.
func (p *problem) fillBuffer(b *buffer, seed uint64) error {
	if inputs.Computed(b.Binding) {
		return p.upload(b.data, b.size, func(content []byte) error { return p.device.source.Fill(content, b.Binding, seed) })
	}
	recipe, err := inputs.NewRecipe(b.Binding, seed)
	if err != nil {
		return err
	}
	return p.device.support.fill(b.element, b.data, b.Count, recipe)
}

// upload writes to the device's memory what is made here, after all that uses it.
func (p *problem) upload(to driver.Address, size int, fill func([]byte) error) error {
	content := make([]byte, size)
	if err := fill(content); err != nil {
		return err
	}
	if err := p.device.context.Wait(p.device.stream); err != nil {
		return err
	}
	return p.device.context.ToDevice(to, content)
}

func (p *problem) identify(buffers set) error {
	for _, b := range buffers.inputs() {
		p.device.support.queueChecksum(b.base, b.whole(), func(f finding) { b.sum = f.bad })
	}
	return p.device.support.collect()
}

// content is what inputs hold, and the right answers to it: an entry per
// argument, empty for those that are no output, none without a reference.
type content struct {
	seed    uint64
	answers []rightAnswer
	initial []driver.Address // what restored buffers start with
}

type rightAnswer struct {
	at  driver.Address
	sum uint64
}

// solve runs the reference on a set of inputs, into memory of its own. Whatever goes wrong here
// is not the kernel's fault.
func (p *problem) solve(inputs set, known *content) (err error) {
	if p.load.Reference == nil {
		return nil
	}
	reference, d := *p.load.Reference, p.device
	known.answers = make([]rightAnswer, len(inputs))
	for i, b := range inputs.outputs() {
		if known.answers[i].at, err = p.memory(&p.owned, b.size); err != nil {
			return err
		}
	}
	run := p.runReference
	switch {
	case reference.Answers != nil:
		run = p.uploadKnown
	case reference.Module == "":
		run = p.uploadAnswers
	}
	if err := run(inputs, *known); err != nil {
		return err
	}
	for i, b := range inputs.outputs() {
		if known.answers[i].sum, err = d.support.checksum(known.answers[i].at, b.size); err != nil {
			return err
		}
	}
	return nil
}

// uploadAnswers takes the answers from their files.
func (p *problem) uploadAnswers(inputs set, known content) error {
	for i, b := range inputs.outputs() {
		err := p.upload(known.answers[i].at, b.size,
			func(content []byte) error { return p.device.source.Read(content, b.Answer) })
		if err != nil {
			return fmt.Errorf("the answer for %s: %w", b.Name, err)
		}
	}
	return nil
}

// runReference computes the answers.
func (p *problem) runReference(inputs set, known content) error {
	reference, d := *p.load.Reference, p.device
	function, err := d.function(reference.Module, reference.Call.Entry)
	if err != nil {
		return fmt.Errorf("the reference: %s", err) // not %w: a fault would be blamed on the kernel
	}
	parameters, err := p.parametersFor(inputs)
	if err != nil {
		return err
	}
	defer parameters.free()
	for i, b := range inputs.outputs() {
		if b.Restored {
			err = d.context.CopyLater(d.stream, known.answers[i].at, b.data, b.size)
		} else {
			err = d.context.Set(d.stream, known.answers[i].at, guardPattern, b.size)
		}
		if err != nil {
			return err
		}
		parameters.setAddress(i, known.answers[i].at)
	}
	if err := d.start(function, reference.Call, parameters); err != nil {
		return fmt.Errorf("the reference: %s", err)
	}
	if err := d.context.Wait(d.stream); err != nil {
		return fmt.Errorf("the reference: %s", err)
	}
	return nil
}

// expect says which content the outputs of a set are held against.
func (p *problem) expect(outputs set, known content) {
	if known.answers == nil {
		return
	}
	for i, b := range outputs.outputs() {
		b.answer, b.right = known.answers[i].at, known.answers[i].sum
	}
}

// parametersFor returns the arguments of a launch on the given buffers, as
// pointers.
func (p *problem) parametersFor(buffers set) (*parameters, error) {
	parameters, err := newParameters(len(p.load.Arguments) + mostScratch)
	if err != nil {
		return nil, err
	}
	for i, argument := range p.load.Arguments {
		if b := buffers[i]; b != nil {
			parameters.setAddress(i, b.data)
			continue
		}
		argument.Put(parameters.value(i))
	}
	return parameters, nil
}

// parameters returns the arguments of a launch on a set of buffers. The driver copies them when
// the launch is made or recorded.
func (p *problem) parameters(on set) (_ *parameters, err error) {
	if p.launch == nil {
		if p.launch, err = p.parametersFor(p.buffers); err != nil {
			return nil, err
		}
	}
	return p.launch, p.place(p.launch, on)
}

// place puts the buffers of a launch of the kernel under test among its arguments,
// those that it takes as tensor maps as such: they depend on the point.
func (p *problem) place(to *parameters, on set) error {
	for i, b := range on {
		if b != nil {
			to.setAddress(i, b.data)
		}
	}
	for _, layout := range p.device.loaded.Maps {
		b := on[layout.Argument]
		if err := p.device.context.EncodeTensorMap(to.value(layout.Argument), b.data, layout, b.element); err != nil {
			return fmt.Errorf("the tensor map of argument %s: %w", b.Name, err)
		}
	}
	return nil
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

func (p *problem) free() {
	p.release(&p.slabs)
	p.release(&p.owned)
	p.launch.free()
}
