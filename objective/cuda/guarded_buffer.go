package cuda

import (
	"iter"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/objective/cuda/driver"
)

// guardSize is the number of bytes before and behind each buffer that a kernel
// must not touch; guardPattern fills them. As a float of any width it is not a
// number, so that what is read there by mistake spoils the result.
const (
	guardSize    = 4096
	guardPattern = 0xff
	// slabAlign is what a buffer in a slab is aligned to, as an allocation would be.
	slabAlign = 512
)

// buffer is one argument in the device's memory, between two guard zones.
type buffer struct {
	arguments.Binding
	element element.Type
	base    driver.Address // of the allocation
	data    driver.Address // of the first element
	size    int            // of the data, in bytes
	tail    int            // of the zone behind the data, in bytes
	sum     uint64         // the checksum of an input and its guard zones
	answer  driver.Address // what an output should be; 0 for an input
	right   uint64         // the checksum of the answer
}

// set is the buffers of a launch, by argument; nil for scalars.
type set []*buffer

// outputs are the buffers that the kernel writes and that are compared.
func (s set) outputs() iter.Seq2[int, *buffer] {
	return s.those(func(b *buffer) bool { return b.Out })
}

// inputs are the buffers that it may only read.
func (s set) inputs() iter.Seq2[int, *buffer] {
	return s.those(func(b *buffer) bool { return !b.written() })
}

// poisoned are the buffers that it writes and that start as poison.
func (s set) poisoned() iter.Seq2[int, *buffer] {
	return s.those(func(b *buffer) bool { return b.written() && !b.Restored })
}

// restored are the buffers that it writes and that have a content before every launch.
func (s set) restored() iter.Seq2[int, *buffer] {
	return s.those(func(b *buffer) bool { return b.Restored })
}

func (s set) those(counts func(*buffer) bool) iter.Seq2[int, *buffer] {
	return func(yield func(int, *buffer) bool) {
		for i, b := range s {
			if b != nil && counts(b) && !yield(i, b) {
				return
			}
		}
	}
}

func (b *buffer) written() bool { return b.Out || b.Scratch }

// zone is a piece of the device's memory.
type zone struct {
	at   driver.Address
	size int
}

// whole is the size of the data with its guard zones.
func (b *buffer) whole() int { return int(b.data-b.base) + b.size + b.tail }

// stride is the distance of such buffers in a slab.
func (b *buffer) stride() int { return (2*b.tail + b.size + slabAlign - 1) / slabAlign * slabAlign }

// guards are the zones before and behind the data. They are empty where a tool
// watches.
func (b *buffer) guards() (before, behind zone) {
	return zone{b.base, int(b.data - b.base)}, zone{b.data + driver.Address(b.size), b.tail}
}
