package host

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"pawl/objective/worker"
)

// A kernel that changes its arguments needs them afresh for every launch. So each launch
// of a batch has a copy of its own of what is restored, all of them filled before the
// clock starts: nothing is restored between launches, and the time has nothing but the
// kernel in it.

// copies are the buffers of a restored argument, one per launch.
type copies struct {
	first  *buffer // of the first launch; it lies as the layout asks
	more   *buffer // those of the others, one after the other
	stride int     // from one of them to the next
}

// copyGap is the least distance of copies, and what their starts are a multiple of: a
// cache line, of which nothing may be written.
const copyGap = 64

// room makes room for the copies of so many launches.
func (c *copies) room(launches int) (err error) {
	c.stride = (len(c.first.data) + 2*copyGap - 1) / copyGap * copyGap
	needed := (launches - 1) * c.stride
	if c.more != nil && len(c.more.data) >= needed || needed == 0 {
		return nil
	}
	if c.more != nil {
		c.more.free()
	}
	if c.more, err = newBuffer(c.first.name, needed, copyGap, worker.Aligned); err != nil {
		c.more = nil
		return err
	}
	for at := 0; at < needed; at += c.stride {
		fillBytes(c.more.data[at+len(c.first.data):at+c.stride], canary)
	}
	return nil
}

// of is what a launch changes.
func (c *copies) of(launch int) []byte {
	if launch == 0 {
		return c.first.data
	}
	start := (launch - 1) * c.stride
	return c.more.data[start : start+len(c.first.data)]
}

// damage says whether a byte between the copies was overwritten.
func (c *copies) damage() *worker.Fault {
	if c == nil || c.more == nil {
		return nil
	}
	for at := 0; at < len(c.more.data); at += c.stride {
		between := buffer{
			name: c.first.name,
			body: c.more.data[at : at+c.stride],
			data: c.more.data[at : at+len(c.first.data)],
		}
		if f := between.damage(); f != nil {
			return f
		}
	}
	return c.more.damage()
}

func (c *copies) free() {
	if c != nil && c.more != nil { // the first is an output
		c.more.free()
	}
}

// restores says that the kernel changes an argument that must be given afresh.
func (d *Device) restores() bool {
	for _, c := range d.copies {
		if c != nil {
			return true
		}
	}
	return false
}

// layOut puts the arguments of launches together, going round the arranged sets.
func (d *Device) layOut(launches int) (err error) {
	d.rounds = len(d.arranged)
	if d.restores() {
		d.rounds = launches
	}
	n := 8 * len(d.loaded.Arguments)
	if d.round, err = atLeast(d.round, 8*max(d.rounds, mostSets)); err != nil {
		return err
	}
	if d.restores() {
		if d.calls, err = atLeast(d.calls, n*launches); err != nil {
			return err
		}
	}
	for _, c := range d.copies {
		if c == nil {
			continue
		}
		if err := c.room(launches); err != nil {
			return err
		}
	}
	for launch := range d.rounds {
		arguments := d.arranged[launch%len(d.arranged)].arguments
		if d.restores() {
			own := d.calls[n*launch : n*(launch+1)]
			copy(own, arguments)
			arguments = own
			for i, c := range d.copies {
				if c != nil {
					*(*uintptr)(unsafe.Pointer(&own[8*i])) = address(c.of(launch))
				}
			}
		}
		*(*uintptr)(unsafe.Pointer(&d.round[8*launch])) = address(arguments)
	}
	return nil
}

// restore gives every arranged launch what it starts from.
func (d *Device) restore() error {
	if !d.restores() {
		return nil
	}
	if err := d.reach(true); err != nil {
		return err
	}
	for i, c := range d.copies {
		if c == nil {
			continue
		}
		for launch := range d.rounds {
			copy(c.of(launch), d.arranged[launch%len(d.arranged)].buffers[i].data)
		}
	}
	return nil
}

// written is where the last launch has written an argument.
func (d *Device) written(argument int) []byte {
	if c := d.copies[argument]; c != nil {
		return c.of(max(d.launched, 1) - 1)
	}
	return d.outputs[argument].data
}

// atLeast returns memory outside the Go heap of at least a size.
func atLeast(memory []byte, size int) ([]byte, error) {
	if len(memory) >= size {
		return memory, nil
	}
	if memory != nil {
		_ = unix.Munmap(memory) // ours and whole: it cannot fail
	}
	return anonymous(size)
}
