package host

import (
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// probeCount is how many bytes of the outputs are noted as soon as the launches have
// returned. A kernel that lets a thread finish its work afterwards changes some.
const probeCount = 256

type probe struct {
	at   uintptr
	seen uint64
}

func (d *Device) probe(i int) *probe { return (*probe)(unsafe.Pointer(&d.probes[16*i])) }

// placeProbes chooses bytes of the outputs at random, and returns how many.
func (d *Device) placeProbes() int {
	var outputs [][]byte
	for i, argument := range d.loaded.Arguments {
		if argument.IsBuffer() && (argument.Out || argument.Scratch) {
			outputs = append(outputs, d.written(i))
		}
	}
	if len(outputs) == 0 {
		return 0
	}
	for i := range probeCount {
		data := outputs[i%len(outputs)]
		*d.probe(i) = probe{at: address(data) + uintptr(d.random.IntN(len(data)))}
	}
	return probeCount
}

// changed says that an output is not what it was when the kernel returned.
func (d *Device) changed() bool {
	for i := range probeCount {
		p := d.probe(i)
		if p.at == 0 {
			return false // nothing was launched yet
		}
		for at, argument := range d.loaded.Arguments {
			if !argument.IsBuffer() || !argument.Out && !argument.Scratch {
				continue
			}
			data := d.written(at)
			if start := address(data); p.at >= start && p.at < start+uintptr(len(data)) && uint64(data[p.at-start]) != p.seen {
				return true
			}
		}
	}
	return false
}

// reach lets everybody in this process read the inputs, and what launches change, or nobody.
// Between launches nobody does, so that no thread of a kernel works ahead.
func (d *Device) reach(open bool) error {
	protection := unix.PROT_NONE
	if open {
		protection = unix.PROT_READ | unix.PROT_WRITE
	}
	for _, c := range present(d.copies) {
		for _, b := range []*buffer{c.first, c.more} {
			if b == nil || len(b.body) == 0 {
				continue
			}
			if err := unix.Mprotect(b.body, protection); err != nil {
				return err
			}
		}
	}
	return nil
}

// poisonScratch makes the C library fill what a kernel allocates: scratch that
// is used before it is written must not look like zeros. The argument is the
// byte that new memory is filled with; 0 turns it off, because a kernel that is
// timed should not pay for it. It does nothing where the C library cannot.
func poisonScratch(fill byte) {
	tune, err := purego.Dlsym(purego.RTLD_DEFAULT, "mallopt")
	if err != nil {
		return // not the GNU C library
	}
	option := int32(-6) // M_PERTURB: new memory gets the complement of the value
	value := uintptr(0)
	if fill != 0 {
		value = uintptr(^fill)
	}
	purego.SyscallN(tune, uintptr(option), value)
}
