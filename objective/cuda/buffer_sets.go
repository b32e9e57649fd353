package cuda

import "pawl/objective/cuda/driver"

// sets returns n sets of buffers for timed launches, one for each. Only the inputs that no
// launch gets anew have their content yet: see fresh_inputs.go. The buffers of an argument
// lie a fixed distance apart, so that the device renews them all at once.
func (p *problem) sets(n int) ([]set, error) {
	if len(p.rotation) < n {
		if err := p.makeSets(n); err != nil {
			p.rotation = nil
			p.release(&p.slabs)
			return nil, err
		}
	}
	return p.rotation[:n], nil
}

func (p *problem) makeSets(n int) error {
	p.rotation = nil
	p.release(&p.slabs)
	for range n {
		p.rotation = append(p.rotation, make(set, len(p.buffers)))
	}
	for i, original := range p.buffers {
		if original == nil {
			continue
		}
		first, err := p.memory(&p.slabs, n*original.stride())
		if err != nil {
			return err
		}
		if p.guard > 0 {
			if err := p.device.context.Set(p.device.stream, first, guardPattern, n*original.stride()); err != nil {
				return err
			}
		}
		for number, set := range p.rotation {
			base := first + driver.Address(number*original.stride())
			set[i] = &buffer{Binding: original.Binding, element: original.element, base: base,
				data: base + driver.Address(p.guard), size: original.size, tail: p.guard}
			if original.written() {
				continue
			}
			if err := p.device.context.CopyLater(p.device.stream, set[i].data, original.data, original.size); err != nil {
				return err
			}
		}
	}
	return nil
}
