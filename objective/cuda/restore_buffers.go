package cuda

import "pawl/objective/cuda/driver"

// A kernel that changes its arguments needs them afresh for every launch. In a sample each launch
// has a set of buffers of its own, which are renewed or copied before it.

// keep copies what the restored buffers of a set start with: a kernel that changes them needs them afresh for every
// launch.
func (p *problem) keep(from set, known *content) (err error) {
	for i, b := range from.restored() {
		if known.initial == nil {
			known.initial = make([]driver.Address, len(from))
		}
		if known.initial[i], err = p.memory(&p.owned, b.size); err != nil {
			return err
		}
		if err := p.device.context.CopyLater(p.device.stream, known.initial[i], b.data, b.size); err != nil {
			return err
		}
	}
	return nil
}

// restore gives the buffers of a set what a content starts with, in order with the stream.
func (p *problem) restore(to set, known content) error {
	for i, b := range to.restored() {
		if err := p.device.context.CopyLater(p.device.stream, b.data, known.initial[i], b.size); err != nil {
			return fault(err)
		}
	}
	return nil
}
