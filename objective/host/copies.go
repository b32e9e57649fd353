package host

import (
	"hash/maphash"
	"os"
	"runtime"

	"github.com/ebitengine/purego"

	"pawl/objective/worker"
)

// copies are the buffers of an argument, one for each launch of a batch: all of them are filled before the clock
// starts, so that the time has nothing but the kernel in it, and any result can be looked at afterwards.
type copies struct {
	first  *buffer // of the first launch; it lies as the layout asks
	more   *buffer // those of the others, one after the other
	stride int     // from one of them to the next
	count  int
	// shared says that all launches have the first, unless they are to find nothing in the caches.
	shared bool
	// written says that the kernel changes it, and poisoned that it starts as poison; used is how many copies have
	// had it.
	written, poisoned bool
	used              int
	sum               [2]uint64 // of an input as filled
}

// copyGap is the least distance of copies, and what their starts are a multiple of: a
// cache line, of which nothing may be written.
const copyGap = 64

// hugePages is MADV_HUGEPAGE, which other systems than Linux do not have, and hugePage what such a page has.
const (
	hugePages = 14
	hugePage  = 2 << 20
)

// room makes room for so many copies.
func (c *copies) room(count, align int) (err error) {
	c.count = count
	align = max(align, copyGap)
	c.stride = (len(c.first.data) + copyGap + align - 1) / align * align
	needed := (c.count - 1) * c.stride
	if c.more != nil && len(c.more.data) >= needed || needed == 0 {
		return nil
	}
	if c.more != nil {
		c.more.free()
	}
	c.used = min(c.used, 1)
	// To hide 16 MB of small pages takes a millisecond, of large ones some microseconds.
	unit := os.Getpagesize()
	if runtime.GOOS == "linux" && needed >= hugePage {
		unit = hugePage
	}
	pages := (needed + unit - 1) / unit * unit
	if c.more, err = mapBuffer(c.first.name, needed, align, worker.Aligned, pages, unit); err != nil {
		c.more = nil
		return err
	}
	for at := 0; at < needed; at += c.stride {
		fillBytes(c.more.data[at+len(c.first.data):at+c.stride], canary)
	}
	return nil
}

// of is what a launch reads, or changes.
func (c *copies) of(launch int) []byte {
	at := launch % c.count
	if at == 0 {
		return c.first.data
	}
	return c.more.data[(at-1)*c.stride:][:len(c.first.data)]
}

// flush takes all copies out of the caches by the support's function, where the processor can do that.
func (c *copies) flush(function uintptr) bool {
	done, _, _ := purego.SyscallN(function, address(c.first.data), uintptr(len(c.first.data)))
	if c.count > 1 {
		purego.SyscallN(function, address(c.more.data), uintptr((c.count-1)*c.stride))
	}
	return int32(done) == 1
}

// identify notes what inputs hold. It also brings what many cores have filled into the caches of
// this one.
func (c *copies) identify(key maphash.Seed) {
	if !c.written {
		c.sum = c.checksum(key)
	}
}

// checksum is that of the first copy, and of the others with what lies between them.
func (c *copies) checksum(key maphash.Seed) (sum [2]uint64) {
	sum[0] = maphash.Bytes(key, c.first.data)
	if c.count > 1 {
		sum[1] = maphash.Bytes(key, c.more.data[:(c.count-1)*c.stride])
	}
	return sum
}

// damage says whether an input has changed, or a byte beside a copy.
func (c *copies) damage(key maphash.Seed) *worker.Fault {
	if f := c.first.damage(); f != nil {
		return f
	}
	intact := !c.written && c.checksum(key) == c.sum
	if c.more != nil {
		if f := c.more.damage(); f != nil {
			return f
		}
	}
	if intact {
		return nil
	}
	for at := 0; at < (c.count-1)*c.stride; at += c.stride {
		one := c.more.data[at : at+c.stride]
		between := buffer{name: c.first.name, body: one, data: one[:len(c.first.data)]}
		if f := between.damage(); f != nil {
			return f
		}
	}
	if c.written {
		return nil
	}
	return &worker.Fault{Kind: worker.InputModified, Detail: c.first.name}
}

func (c *copies) free() {
	c.first.free()
	if c.more != nil {
		c.more.free()
	}
}
