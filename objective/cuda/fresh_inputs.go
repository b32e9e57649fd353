package cuda

import (
	"time"

	"pawl/kernels/inputs"
)

// Every launch of every sample has inputs of its own, drawn right before the sample, so that
// nothing a kernel remembers of other launches is of use to it. Of a few of these contents
// the right answer is known. They are drawn like all others, a kernel sees each once, and it
// cannot know which they are or when.

// They are made when they are needed and serve all kernels that follow. Their number is bounded, and
// beyond the first two the time that a slow reference takes for them: it is the budget's.
const (
	mostKnown   = 8
	leastKnown  = 2
	mostSolving = time.Second
)

// renew gives new inputs to all launches of the next sample, and to one of them a content that
// is known; nil for none.
func (d *Device) renew(known *content, at int) error {
	seed := d.random.Uint64()
	if known != nil {
		seed = known.seed
	}
	for i, b := range d.on.buffers.those(func(b *buffer) bool { return !b.written() || b.Restored }) {
		var err error
		switch renewal, pool := inputs.RenewalOf(b.Binding); renewal {
		case inputs.Drawn:
			err = d.drawAll(i, pool, seed, known, at)
		case inputs.Refilled:
			err = d.refillAll(i, known, at)
		default:
			err = d.restoreAll(i)
		}
		if err != nil {
			return fault(err)
		}
	}
	return nil
}

// drawAll draws an argument of all sets from one pool. Nothing tells a known content from
// another then.
func (d *Device) drawAll(argument int, pool inputs.Pool, seed uint64, known *content, at int) error {
	if err := d.on.fillPool(pool, seed); err != nil {
		return err
	}
	sets := d.graph.sets
	if err := d.support.draw(sets[0][argument], len(sets), pool, d.random.Uint64()); err != nil || known == nil {
		return err
	}
	return d.support.draw(sets[at][argument], 1, pool, pool.Stream(seed))
}

func (p *problem) fillPool(pool inputs.Pool, seed uint64) error {
	b := &buffer{Binding: pool.Binding, element: pool.Element(), data: p.device.support.pool, size: pool.Bytes()}
	return p.fillBuffer(b, seed)
}

func (d *Device) refillAll(argument int, known *content, at int) error {
	for number, set := range d.graph.sets {
		seed := d.random.Uint64()
		if known != nil && number == at {
			seed = known.seed
		}
		if err := d.on.fillBuffer(set[argument], seed); err != nil {
			return err
		}
	}
	return nil
}

// restoreAll gives back what launches have changed.
func (d *Device) restoreAll(argument int) error {
	if !d.on.buffers[argument].Restored {
		return nil
	}
	for _, set := range d.graph.sets {
		b := set[argument]
		if err := d.context.CopyLater(d.stream, b.data, d.on.contents[0].initial[argument], b.size); err != nil {
			return err
		}
	}
	return nil
}

// nextKnown returns a content with a known answer that the loaded kernel has not seen, nil where
// there is none. A new one is drawn for a set and solved there.
func (d *Device) nextKnown(at int) (*content, error) {
	p := d.on
	d.shown++
	switch {
	case d.loaded.Reference == nil || d.shown > mostKnown:
		return nil, nil
	case d.shown < len(p.contents):
		return &p.contents[d.shown], nil
	case d.shown > leastKnown && p.solving > mostSolving:
		return nil, nil
	}
	seed, more := p.knownSeed()
	if !more {
		return nil, nil
	}
	began := time.Now()
	known := content{seed: seed}
	if err := d.renew(&known, at); err != nil {
		return nil, err
	}
	err := p.solve(d.graph.sets[at], &known)
	p.solving += time.Since(began)
	p.contents = append(p.contents, known)
	return &p.contents[len(p.contents)-1], err
}
