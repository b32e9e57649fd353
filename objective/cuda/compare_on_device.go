package cuda

import (
	"cmp"
	"fmt"

	"pawl/internal/collect"
	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/objective/cuda/driver"
	"pawl/objective/worker"
)

// inspection checks what a launch has written: results to compare, and damage, which
// is a write outside of a buffer, to an input, or over the right answers. Everything is
// queued first and read once.
type inspection struct {
	device *Device
	err    error // what went wrong first with reading

	damage      *worker.Fault // the first that was found
	spoilt      []*buffer     // inputs that have changed, or their guard zones
	comparisons []worker.Comparison

	shares  bool               // whether comparisons say how much of the tolerance is used
	bits    map[*buffer]uint64 // checksums of the outputs of the first run
	differs bool               // from those of the second
}

// queueBits takes the checksums of a run's outputs. The second time it compares
// them with those of the first.
func (n *inspection) queueBits(buffers set) {
	for _, b := range buffers.outputs() {
		if b.Fields != nil {
			continue // what lies between them is as it was poisoned
		}
		n.device.support.queueChecksum(b.data, b.size, func(f finding) {
			if earlier, again := n.bits[b]; again {
				n.differs = n.differs || earlier != f.bad
			} else {
				n.bits[b] = f.bad
			}
		})
	}
}

// queueDamage looks for what no kernel may do beside its result.
func (n *inspection) queueDamage(buffers set) {
	for _, b := range buffers.those((*buffer).written) {
		n.queueGuards(b)
	}
	for _, b := range buffers.inputs() {
		n.queueInput(b)
	}
}

func (n *inspection) damaged(kind worker.FaultKind, format string, arguments ...any) {
	if n.damage == nil {
		n.damage = &worker.Fault{Kind: kind, Detail: fmt.Sprintf(format, arguments...)}
	}
}

func (n *inspection) queueGuards(b *buffer) {
	if b.tail == 0 {
		return // a tool watches instead
	}
	before, behind := b.guards()
	n.device.support.queueGuards(before, behind, guardPattern, func(f finding) {
		if f.bad > 0 {
			n.damaged(worker.OutOfBounds, "%d bytes written before the start of %s", f.bad, b.Name)
		}
		if f.behind() > 0 {
			n.damaged(worker.OutOfBounds, "%d bytes written past the end of %s", f.behind(), b.Name)
		}
	})
}

// queueInput makes sure that an input and its guard zones are what they were. One
// checksum is over all of it, because launches are what a check costs; only when
// it differs is it asked where.
func (n *inspection) queueInput(b *buffer) {
	n.device.support.queueChecksum(b.base, b.whole(), func(f finding) {
		if f.bad != b.sum {
			n.spoilt = append(n.spoilt, b)
		}
	})
}

// locate finds which part of the inputs has changed.
func (n *inspection) locate() error {
	for _, b := range n.spoilt {
		before := n.damage
		n.queueGuards(b)
		if err := n.readAll(); err != nil {
			return err
		}
		if n.damage == before {
			n.damaged(worker.InputModified, "%s", b.Name)
		}
	}
	n.spoilt = nil
	return nil
}

// queueResults compares outputs with their answers, if there are any, after making sure that
// the answers themselves are untouched.
func (n *inspection) queueResults(buffers set) {
	if n.device.loaded.Reference == nil {
		return
	}
	for _, b := range buffers.outputs() {
		n.device.support.queueChecksum(b.answer, b.size, func(f finding) {
			if f.bad != b.right {
				n.damaged(worker.OutOfBounds, "wrote over the reference's result for %s", b.Name)
			}
		})
	}
	n.queueComparisons(buffers)
}

// queueComparisons compares the outputs of a set of buffers with their answers.
func (n *inspection) queueComparisons(buffers set) {
	reference := n.device.loaded.Reference
	if reference == nil {
		return
	}
	for _, b := range buffers.outputs() {
		if b.Fields == nil {
			n.queuePart(b, part{arguments.Field{Binding: b.Binding, Lanes: 1}, b.element, 0}, reference.Tolerance)
		}
		for _, f := range b.Fields {
			n.queuePart(b, part{f, f.Element(), b.Stride}, reference.Tolerance)
		}
	}
}

// part is what is compared by itself: a field of structures, or all of a buffer, which has no
// stride.
type part struct {
	arguments.Field
	element element.Type
	stride  int
}

// at is where a number of a part lies in a buffer that begins somewhere.
func (p part) at(start driver.Address, number int64) driver.Address {
	if p.stride == 0 {
		return start + driver.Address(number*int64(p.element.Size))
	}
	return start + driver.Address(p.Place(number, p.stride, p.element.Size))
}

func (n *inspection) queuePart(b *buffer, p part, tolerance arguments.Tolerance) {
	if p.Tolerance != nil {
		tolerance = *p.Tolerance
	}
	support := n.device.support
	support.queueCompare(support.compare, p, b, tolerance, func(f finding) { n.compared(b, p, f) })
	if !n.shares {
		return
	}
	support.queueCompare(support.share, p, b, tolerance, func(f finding) {
		last := &n.comparisons[len(n.comparisons)-1] // its reader comes before this one
		last.Share, last.Bias = worker.Real(f.error()), worker.Real(f.mean(p.Count))
	})
}

// compared keeps a comparison, with the values at the first bad element.
func (n *inspection) compared(b *buffer, p part, f finding) {
	c := worker.Comparison{Argument: p.Name, Bad: int64(f.bad), Total: p.Count, Undefined: int64(f.undefined)}
	if f.bad > 0 {
		c.First, c.Worst, c.NotFinite = f.first(), worker.Real(f.error()), int64(f.notFinite)
		var unread, unknown error
		c.Got, unread = n.device.element(p.element, p.at(b.data, c.First))
		c.Want, unknown = n.device.element(p.element, p.at(b.answer, c.First))
		n.err = cmp.Or(n.err, unread, unknown)
	}
	n.comparisons = append(n.comparisons, c)
}

func (n *inspection) collect() error {
	if err := n.readAll(); err != nil {
		return err
	}
	return n.locate()
}

func (n *inspection) readAll() error {
	if err := n.device.support.collect(); err != nil {
		return err
	}
	return n.err
}

// verdict is what timed launches did wrong, or nil.
func (n *inspection) verdict() *worker.Fault {
	c, wrong := collect.First(n.comparisons, func(c worker.Comparison) bool { return c.Bad > 0 })
	if n.damage != nil || !wrong {
		return n.damage
	}
	detail := fmt.Sprintf("%d of %d elements of %s", c.Bad, c.Total, c.Argument)
	return &worker.Fault{Kind: worker.WrongWhenTimed, Detail: detail}
}
