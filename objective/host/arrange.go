package host

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"pawl/kernels/arguments"
	"pawl/kernels/inputs"
	"pawl/objective/worker"
)

// Arrange gives each of the launches that are timed next inputs of its own.
func (d *Device) Arrange(a worker.Arrange) error {
	d.arranged = &a
	return d.arrange(a.Launches())
}

// arrange gets the arguments of so many launches ready.
func (d *Device) arrange(launches int) error {
	if err := d.reach(unix.PROT_READ | unix.PROT_WRITE); err != nil {
		return err
	}
	if err := d.layOut(launches); err != nil {
		return err
	}
	for i, c := range present(d.buffers) {
		switch {
		case c.poisoned:
			d.poisonNew(i)
			continue
		case d.arranged != nil && c.shared && c.count == 1:
			continue // it is as it was loaded
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
	return d.reach(unix.PROT_NONE) // nobody can bring it into the caches again
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
	renewal, pool := inputs.Kept, inputs.Pool{}
	if d.arranged != nil {
		renewal, pool = inputs.RenewalOf(argument)
	}
	if renewal == inputs.Drawn {
		return d.draw(c, pool)
	}
	for launch := range min(d.rounds, c.count) {
		seed := d.loaded.Seed
		if renewal == inputs.Refilled {
			seed = d.arranged.Seed(launch)
		}
		if err := d.source.Fill(c.of(launch), argument, seed); err != nil {
			return err
		}
	}
	return nil
}

// draw draws the content of each launch from the pool, on all cores.
func (d *Device) draw(c *copies, pool inputs.Pool) error {
	from := make([]byte, pool.Bytes())
	if err := d.source.Fill(from, pool.Binding, d.arranged.Pool); err != nil {
		return err
	}
	lanes := min(runtime.GOMAXPROCS(0), d.rounds)
	var done sync.WaitGroup
	for lane := range lanes {
		done.Go(func() {
			for launch := lane; launch < d.rounds; launch += lanes {
				pool.Draw(c.of(launch), from, pool.Stream(d.arranged.Seed(launch)))
			}
		})
	}
	done.Wait()
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
