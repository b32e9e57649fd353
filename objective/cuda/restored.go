package cuda

import (
	"pawl/objective/cuda/driver"
	"pawl/objective/worker"
)

// A kernel that changes its arguments needs them afresh for every launch. Before a sample
// they are copied from what was kept of their content, and then the caches are flushed: so
// each launch of a sample has a set of buffers of its own, and nothing is restored between
// launches. Where caches are to be warm, a sample is one launch, right behind the copy.

// restores says that the kernel changes an argument that must be given afresh.
func (p *problem) restores() bool {
	for range p.buffers.restored() {
		return true
	}
	return false
}

// keep copies what the restored buffers of a set start with. What it returns with an error
// holds the memory that it has taken.
func (p *problem) keep(from set, known content) (content, error) {
	for i, b := range from.restored() {
		if known.initial == nil {
			known.initial = make([]driver.Address, len(from))
		}
		var err error
		if known.initial[i], err = p.memory(b.size); err != nil {
			return known, err
		}
		if err := p.device.context.CopyLater(p.device.stream, known.initial[i], b.data, b.size); err != nil {
			return known, err
		}
	}
	return known, nil
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

// restoreSets gives the launches of the next sample what they start with.
func (d *Device) restoreSets() error {
	if !d.on.restores() {
		return nil
	}
	for i, set := range d.graph.sets[:d.graph.outputs] {
		if err := d.on.restore(set, d.on.contents[(i+d.graph.turn)%timedContents]); err != nil {
			return err
		}
	}
	return nil
}

// launchesRestored is how many launches a sample of a kernel has that changes its arguments:
// as many as there is memory for, and one where caches are not to be cold.
func (d *Device) launchesRestored(n int, caches worker.Caches) int {
	if caches != worker.Cold {
		return 1
	}
	n = min(n, int(rotationShare*float64(d.attributes.Memory)/float64(max(d.on.footprint(), 1))))
	return max(n-n%2, 1)
}
