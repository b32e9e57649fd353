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

// Arrange gives each of the launches that are timed next inputs of its own, and poisons the outputs.
func (d *Device) Arrange(a worker.Arrange) error {
	if d.call == 0 {
		return fmt.Errorf("arranged before load")
	}
	if a.Launches < 1 {
		return fmt.Errorf("%d launches", a.Launches)
	}
	d.arranged = &a
	return d.arrange(a.Launches)
}

// arrange gets the arguments of so many launches ready.
func (d *Device) arrange(launches int) error {
	if err := d.reach(true); err != nil {
		return err
	}
	if err := d.layOut(launches); err != nil {
		return err
	}
	for i, c := range present(d.copies) {
		if d.arranged != nil && c.shared && !c.written {
			continue // it is as it was loaded
		}
		if err := d.fill(i); err != nil {
			return err
		}
		c.identify(d.key)
	}
	d.poison()
	return d.reach(false)
}

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
	copies, shift := launches, 0
	if launches == 1 && d.arranged != nil { // no kernel knows a launch by its pointers
		copies, shift = 2, d.random.IntN(2)
	}
	for i, c := range present(d.copies) {
		c.shift = shift
		err := c.room(copies, d.loaded.Arguments[i].Align)
		if err != nil && launches == 1 { // where memory is short, one will do
			c.shift, err = 0, c.room(1, d.loaded.Arguments[i].Align)
		}
		if err != nil {
			return err
		}
	}
	for launch := range launches {
		own := d.calls[n*launch:]
		for i, argument := range d.loaded.Arguments {
			pointer := (*uintptr)(unsafe.Pointer(&own[8*i]))
			switch {
			case !argument.IsBuffer():
				*pointer = address(d.scalars[arguments.LargestValue*i:])
			case d.copies[i] != nil:
				*pointer = address(d.copies[i].of(launch))
			default:
				*pointer = d.outputs[i].address()
			}
		}
		*(*uintptr)(unsafe.Pointer(&d.round[8*launch])) = address(own)
	}
	return nil
}

// fill gives an argument its content in all launches: that of the load, or what is drawn for each.
func (d *Device) fill(i int) error {
	argument, c := d.loaded.Arguments[i], d.copies[i]
	renewal, pool := inputs.Kept, inputs.Pool{}
	if d.arranged != nil {
		renewal, pool = inputs.RenewalOf(argument)
	}
	if renewal == inputs.Drawn {
		return d.draw(c, pool)
	}
	for launch := range d.fills(c) {
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

// fills is how often an argument is filled: once where all launches share it.
func (d *Device) fills(c *copies) int {
	if c.shared {
		return 1
	}
	return d.rounds
}

// draw draws the content of each launch from the pool, on all cores.
func (d *Device) draw(c *copies, pool inputs.Pool) error {
	from := make([]byte, pool.Bytes())
	if err := d.source.Fill(from, pool.Binding, d.arranged.Last); err != nil {
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
	if err := d.reach(true); err != nil {
		return err
	}
	for i, c := range present(d.copies) {
		if !c.written {
			continue
		}
		if err := d.fill(i); err != nil {
			return err
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
