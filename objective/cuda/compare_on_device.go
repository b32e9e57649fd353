package cuda

import (
	"fmt"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/objective/cuda/driver"
	"pawl/objective/worker"
)

// inspection checks what a launch has written: results to compare, and damage, which
// is a write outside of a buffer, to an input, or over the right answers. Everything is
// queued first and read once.
type inspection struct {
	device  *Device
	readers []func(finding) error // one per queued check, in order

	damage      *worker.Fault // the first that was found
	spoilt      []*buffer     // inputs that have changed, or their guard zones
	comparisons []worker.Comparison

	shares  bool               // whether comparisons say how much of the tolerance is used
	bits    map[*buffer]uint64 // checksums of the outputs of the first run
	differs bool               // from those of the second
}

// queueOutputs starts comparing the outputs of a set of buffers, for a run that
// another one follows.
func (n *inspection) queueOutputs(buffers set, bitwise bool) error {
	for _, b := range buffers.outputs() {
		if err := n.queueComparison(b); err != nil {
			return err
		}
	}
	if bitwise {
		return n.queueBits(buffers)
	}
	return nil
}

// queueBits takes the checksums of a run's outputs. The second time it compares
// them with those of the first.
func (n *inspection) queueBits(buffers set) error {
	for _, b := range buffers.outputs() {
		if b.Fields != nil {
			continue // what lies between them is as it was poisoned
		}
		err := n.device.support.queueChecksum(b.data, b.size)
		err = n.read(err, func(f finding) error {
			if earlier, again := n.bits[b]; again {
				n.differs = n.differs || earlier != f.bad
			} else {
				n.bits[b] = f.bad
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// queue starts the checks of a set of buffers.
func (n *inspection) queue(buffers set) error {
	if err := n.queueDamage(buffers); err != nil {
		return err
	}
	return n.queueResults(buffers)
}

// queueDamage looks for what no kernel may do beside its result.
func (n *inspection) queueDamage(buffers set) error {
	for _, b := range buffers {
		if b == nil {
			continue
		}
		queue := n.queueInput
		if b.written() {
			queue = n.queueGuards
		}
		if err := queue(b); err != nil {
			return err
		}
	}
	return nil
}

func (n *inspection) read(err error, reader func(finding) error) error {
	n.readers = append(n.readers, reader)
	return err
}

func (n *inspection) damaged(kind worker.FaultKind, format string, arguments ...any) {
	if n.damage == nil {
		n.damage = &worker.Fault{Kind: kind, Detail: fmt.Sprintf(format, arguments...)}
	}
}

func (n *inspection) queueGuards(b *buffer) error {
	if b.tail == 0 {
		return nil // a tool watches instead
	}
	before, behind := b.guards()
	err := n.device.support.queueGuards(before.at, before.size, behind.at, behind.size, guardPattern)
	return n.read(err, func(f finding) error {
		if f.bad > 0 {
			n.damaged(worker.OutOfBounds, "%d bytes written before the start of %s", f.bad, b.Name)
		}
		if f.behind() > 0 {
			n.damaged(worker.OutOfBounds, "%d bytes written past the end of %s", f.behind(), b.Name)
		}
		return nil
	})
}

// queueInput makes sure that an input and its guard zones are what they were. One
// checksum is over all of it, because launches are what a check costs; only when
// it differs is it asked where.
func (n *inspection) queueInput(b *buffer) error {
	err := n.device.support.queueChecksum(b.base, b.whole())
	return n.read(err, func(f finding) error {
		if f.bad != b.sum {
			n.spoilt = append(n.spoilt, b)
		}
		return nil
	})
}

// locate finds which part of the inputs has changed.
func (n *inspection) locate() error {
	for _, b := range n.spoilt {
		before := n.damage
		if err := n.queueGuards(b); err != nil {
			return err
		}
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
func (n *inspection) queueResults(buffers set) error {
	if n.device.loaded.Reference == nil {
		return nil
	}
	for _, b := range buffers.outputs() {
		err := n.device.support.queueChecksum(b.answer, b.size)
		err = n.read(err, func(f finding) error {
			if f.bad != b.right {
				n.damaged(worker.OutOfBounds, "wrote over the reference's result for %s", b.Name)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return n.queueOutputs(buffers, false)
}

func (n *inspection) queueComparison(b *buffer) error {
	reference := n.device.loaded.Reference
	if reference == nil {
		return nil
	}
	if b.Fields == nil {
		return n.queuePart(b, part{arguments.Field{Binding: b.Binding, Lanes: 1}, b.element, 0}, reference.Tolerance)
	}
	for _, f := range b.Fields {
		if err := n.queuePart(b, part{f, f.Element(), b.Stride}, reference.Tolerance); err != nil {
			return err
		}
	}
	return nil
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

func (n *inspection) queuePart(b *buffer, p part, tolerance arguments.Tolerance) error {
	if p.Tolerance != nil {
		tolerance = *p.Tolerance
	}
	err := n.device.support.queueCompare(n.device.support.compare, p, b.data, b.answer, tolerance)
	if err := n.read(err, func(f finding) error { return n.compared(b, p, f) }); err != nil || !n.shares {
		return err
	}
	err = n.device.support.queueCompare(n.device.support.share, p, b.data, b.answer, tolerance)
	return n.read(err, func(f finding) error {
		last := &n.comparisons[len(n.comparisons)-1] // its reader comes before this one
		last.Share, last.Bias = worker.Real(f.error()), worker.Real(f.mean(p.Count))
		return nil
	})
}

// compared keeps a comparison, with the values at the first bad element.
func (n *inspection) compared(b *buffer, p part, f finding) (err error) {
	c := worker.Comparison{Argument: p.Name, Bad: int64(f.bad), Total: p.Count, Undefined: int64(f.undefined)}
	if f.bad > 0 {
		c.First, c.Worst, c.NotFinite = f.first(), worker.Real(f.error()), int64(f.notFinite)
		if c.Got, err = n.device.element(p.element, p.at(b.data, c.First)); err != nil {
			return err
		}
		if c.Want, err = n.device.element(p.element, p.at(b.answer, c.First)); err != nil {
			return err
		}
	}
	n.comparisons = append(n.comparisons, c)
	return nil
}

func (n *inspection) collect() error {
	if err := n.readAll(); err != nil {
		return err
	}
	return n.locate()
}

func (n *inspection) readAll() error {
	findings, err := n.device.support.collect()
	if err != nil {
		return err
	}
	for i, reader := range n.readers {
		if err := reader(findings[i]); err != nil {
			return err
		}
	}
	n.readers = nil
	return nil
}

// verdict is what timed launches did wrong, or nil.
func (n *inspection) verdict() *worker.Fault {
	if wrong := n.wrong(); wrong != "" && n.damage == nil {
		return &worker.Fault{Kind: worker.WrongWhenTimed, Detail: wrong}
	}
	return n.damage
}

// wrong says which output is wrong, or nothing.
func (n *inspection) wrong() string {
	for _, c := range n.comparisons {
		if c.Bad > 0 {
			return fmt.Sprintf("%d of %d elements of %s", c.Bad, c.Total, c.Argument)
		}
	}
	return ""
}
