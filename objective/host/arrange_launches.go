package host

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"pawl/kernels/arguments"
	"pawl/kernels/inputs"
	"pawl/objective/worker"
)

// Arrange gives each of the launches that are timed next inputs of its own, or room for them.
func (d *Device) Arrange(a worker.Arrange) ([]worker.Region, error) {
	d.arranged = &a
	if err := d.arrange(max(len(a.Seeds), a.Launches)); err != nil {
		return nil, err
	}
	return d.regions(), nil
}

func (d *Device) regions() (regions []worker.Region) {
	for _, c := range present(d.buffers) {
		regions = append(regions, c.block().region())
	}
	return regions
}

// outside says that the client fills the inputs of timed launches.
func (d *Device) outside() bool { return d.arranged != nil && d.arranged.Launches > 0 }

// arrange gets the arguments of so many launches ready.
func (d *Device) arrange(launches int) error {
	if err := d.layOut(launches); err != nil {
		return err
	}
	for i, c := range present(d.buffers) {
		c.outside = d.outside() && inputs.Renewed(d.loaded.Arguments[i])
		switch {
		case c.poisoned:
			d.poisonNew(i)
			continue
		case d.arranged != nil && c.shared && c.count == 1 || c.outside:
			continue // it is as it was loaded, or will be filled
		}
		if err := d.fill(i); err != nil {
			return err
		}
		c.identify(d.key)
	}
	for _, c := range present(d.buffers) {
		if d.cold() && !c.flush(d.flush) {
			return fmt.Errorf("caches cannot be flushed on %s", runtime.GOARCH)
		}
	}
	return nil
}

// cold says that launches find nothing in the caches. Each has copies of all buffers then: what launches share the
// second would find there.
func (d *Device) cold() bool { return d.arranged != nil && d.arranged.Cold }

// layOut puts the arguments of launches together.
func (d *Device) layOut(launches int) (err error) {
	d.rounds = launches
	n := 8 * len(d.loaded.Arguments)
	if d.round, err = atLeast(d.round, 8*launches); err != nil {
		return err
	}
	if d.calls, err = atLeast(d.calls, max(n, 8)*launches); err != nil {
		return err
	}
	for i, c := range present(d.buffers) {
		count := launches
		if c.shared && !d.cold() {
			count = 1
		}
		if err := c.room(count, d.loaded.Arguments[i].Align); err != nil {
			return err
		}
	}
	for launch := range launches {
		own := d.calls[n*launch:]
		for i, argument := range d.loaded.Arguments {
			pointer := (*uintptr)(unsafe.Pointer(&own[8*i]))
			if argument.IsBuffer() {
				*pointer = address(d.buffers[i].of(launch))
			} else {
				*pointer = address(d.scalars[arguments.LargestValue*i:])
			}
		}
		*(*uintptr)(unsafe.Pointer(&d.round[8*launch])) = address(own)
	}
	return nil
}

// fill gives an argument its content in all launches: that of the load, or what is drawn for each.
func (d *Device) fill(i int) error {
	argument, c := d.loaded.Arguments[i], d.buffers[i]
	if d.arranged != nil && !d.outside() && inputs.Renewed(argument) {
		return d.source.FillLaunches(argument, d.arranged.Pool, d.arranged.Seeds, c.of)
	}
	for launch := range min(d.rounds, c.count) {
		if err := d.source.Fill(c.of(launch), argument, d.loaded.Seed); err != nil {
			return err
		}
	}
	return nil
}

// restore gives every arranged launch what it starts from, where it changes that.
func (d *Device) restore() error {
	for i, c := range present(d.buffers) {
		if c.written && !c.poisoned {
			if err := d.fill(i); err != nil {
				return err
			}
		}
	}
	return nil
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
