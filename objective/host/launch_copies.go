package host

import (
	"hash/maphash"

	"github.com/ebitengine/purego"

	"pawl/objective/worker"
)

// copies are the buffers of an argument, one for each launch of a batch: all of them are filled before the clock
// starts, so that the time has nothing but the kernel in it, and any result can be looked at afterwards.
type copies struct {
	first  *buffer // of a single launch; it lies as the layout asks
	many   *buffer // those of several, one after the other
	stride int     // from one of them to the next
	count  int
	// shared says that all launches have the first, unless they are to find nothing in the caches.
	shared bool
	// written says that the kernel changes it, and poisoned that it starts as poison; used is how many copies have
	// had it.
	written, poisoned bool
	used              int
	sum               uint64 // of an input as filled
	// outside says that its client fills it, and sees what becomes of it.
	outside bool
}

func (c *copies) room(count, align int) (err error) {
	c.count = count
	c.stride = worker.Stride(len(c.first.data), align)
	if c.count == 1 || c.many != nil && len(c.many.data) >= c.count*c.stride {
		return nil
	}
	if c.many != nil {
		c.many.free()
	}
	c.used = 0
	if c.many, err = newBuffer(c.first.name, c.count*c.stride, align, worker.Aligned); err == nil {
		fillBytes(c.many.data, worker.Canary)
	}
	return err
}

func (c *copies) block() *buffer {
	if c.count == 1 {
		return c.first
	}
	return c.many
}

// held is what all copies hold, with what lies between them.
func (c *copies) held() []byte {
	block := c.block().data
	return block[:min(c.count*c.stride, len(block))]
}

// of is what a launch reads, or changes.
func (c *copies) of(launch int) []byte {
	return c.block().data[launch%c.count*c.stride:][:len(c.first.data)]
}

// flush takes all copies out of the caches by the support's function, where the processor can do that.
func (c *copies) flush(function uintptr) bool {
	held := c.held()
	done, _, _ := purego.SyscallN(function, address(held), uintptr(len(held)))
	return int32(done) == 1
}

// identify notes what inputs hold. It also brings what many cores have filled into the caches of
// this one.
func (c *copies) identify(key maphash.Seed) {
	if !c.written {
		c.sum = c.checksum(key)
	}
}

func (c *copies) checksum(key maphash.Seed) uint64 {
	return maphash.Bytes(key, c.held())
}

// damage says whether an input has changed, or a byte beside a copy.
func (c *copies) damage(key maphash.Seed) *worker.Fault {
	for _, b := range present([]*buffer{c.first, c.many}) {
		if f := b.damage(); f != nil {
			return f
		}
	}
	intact := !c.written && !c.outside && c.checksum(key) == c.sum
	if intact {
		return nil
	}
	for at := 0; c.count > 1 && at < c.count*c.stride; at += c.stride {
		one := c.many.data[at : at+c.stride]
		between := buffer{name: c.first.name, body: one, data: one[:len(c.first.data)]}
		if f := between.damage(); f != nil {
			return f
		}
	}
	if c.written || c.outside {
		return nil
	}
	return &worker.Fault{Kind: worker.InputModified, Detail: c.first.name}
}

func (c *copies) free() {
	for _, b := range present([]*buffer{c.first, c.many}) {
		b.free()
	}
}
