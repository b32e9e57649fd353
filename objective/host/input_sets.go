package host

import (
	"fmt"
	"hash/maphash"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"pawl/kernels/arguments"
	"pawl/kernels/inputs"
	"pawl/objective/worker"
)

// mostSets is how many sets of inputs there are at once: two that timed launches go
// round, and some for inputs that the kernel sees for the first time.
const mostSets = 2 + worker.MostUnseen

// inputSet is one set of inputs, and the arguments of a call on them.
type inputSet struct {
	seed      uint64
	buffers   []*buffer    // nil for what is no input
	arguments []byte       // the array of pointers, outside the Go heap
	key       maphash.Seed // of the hashes
	hashes    []uint64     // of the inputs as filled
	used      int          // when it was last arranged
}

// Arrange gets the sets with the given seeds ready and poisons the outputs. A set
// that is there is not filled again; a new one takes the place of the one that was
// used longest ago.
func (d *Device) Arrange(a worker.Arrange) error {
	if d.call == 0 {
		return fmt.Errorf("arranged before load")
	}
	if len(a.Seeds) == 0 || len(a.Seeds) > mostSets {
		return fmt.Errorf("%d sets of inputs", len(a.Seeds))
	}
	if err := d.reach(true); err != nil {
		return err
	}
	now := 1
	for _, set := range d.sets {
		now = max(now, set.used+1)
	}
	d.arranged = d.arranged[:0]
	for _, seed := range a.Seeds {
		set, filled, err := d.set(seed, a.Seeds, now)
		if err == nil && (a.Refill || !filled) {
			err = set.fill(&d.source, d.loaded.Arguments, seed)
		}
		if err != nil {
			return err
		}
		d.arranged = append(d.arranged, set)
	}
	if err := d.layOut(max(a.Launches, 1)); err != nil {
		return err
	}
	d.poison()
	if err := d.restore(); err != nil {
		return err
	}
	// What was filled by many cores comes into the caches of this one.
	for _, set := range d.sets {
		if set.used == now {
			_ = set.damage()
		}
	}
	return d.reach(false)
}

// set returns the set with a seed, or one that is yet to be filled with it.
func (d *Device) set(seed uint64, wanted []uint64, now int) (_ *inputSet, filled bool, err error) {
	var oldest *inputSet
	for _, set := range d.sets {
		if set.seed == seed {
			set.used = now
			return set, true, nil
		}
		if !slices.Contains(wanted, set.seed) && (oldest == nil || set.used < oldest.used) {
			oldest = set
		}
	}
	if oldest == nil || len(d.sets) < mostSets {
		made, err := d.newSet()
		switch {
		case err == nil:
			d.sets = append(d.sets, made)
			oldest = made
		case oldest == nil:
			return nil, false, err
		} // where memory is short, fewer sets are filled more often
	}
	oldest.used = now
	return oldest, false, nil
}

// newSet allocates a set of inputs.
func (d *Device) newSet() (set *inputSet, err error) {
	n := len(d.loaded.Arguments)
	set = &inputSet{buffers: make([]*buffer, n), hashes: make([]uint64, n), key: maphash.MakeSeed()}
	if set.arguments, err = anonymous(8 * max(n, 1)); err != nil {
		return nil, err
	}
	for i, argument := range d.loaded.Arguments {
		pointer := (*uintptr)(unsafe.Pointer(&set.arguments[8*i]))
		switch {
		case !argument.IsBuffer():
			*pointer = address(d.scalars[arguments.LargestValue*i:])
		case argument.Out || argument.Scratch:
			*pointer = d.outputs[i].address()
			if !argument.Restored {
				continue
			}
			// What every launch starts from: the kernel never sees this one.
			if set.buffers[i], err = d.buffer(argument); err != nil {
				set.free()
				return nil, err
			}
		default:
			if set.buffers[i], err = d.buffer(argument); err != nil {
				set.free()
				return nil, err
			}
			*pointer = set.buffers[i].address()
		}
	}
	return set, nil
}

func (s *inputSet) fill(source *inputs.Source, arguments []arguments.Binding, seed uint64) error {
	s.seed = seed
	for i, b := range present(s.buffers) {
		if err := source.Fill(b.data, arguments[i], seed); err != nil {
			return err
		}
		s.hashes[i] = maphash.Bytes(s.key, b.data)
	}
	return nil
}

// damage says whether an input has changed, or a byte beside one.
func (s *inputSet) damage() *worker.Fault {
	for i, b := range present(s.buffers) {
		if f := b.damage(); f != nil {
			return f
		}
		if maphash.Bytes(s.key, b.data) != s.hashes[i] {
			return &worker.Fault{Kind: worker.InputModified, Detail: b.name}
		}
	}
	return nil
}

func (s *inputSet) free() {
	for _, b := range present(s.buffers) {
		b.free()
	}
	_ = unix.Munmap(s.arguments)
}
