package host

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/ebitengine/purego"

	"pawl/kernels/inputs"
)

// poisonNew poisons the copies of an output that no launch has had. What others hold is the answer to other inputs, or
// where no input changes, poison again.
func (d *Device) poisonNew(i int) {
	c := d.buffers[i]
	if !slices.ContainsFunc(d.loaded.Arguments, inputs.Renewed) {
		c.used = 0
	}
	for ; c.used < c.count; c.used++ {
		d.poison(i, c.of(c.used))
	}
}

// poison fills a buffer of an argument with random numbers that look like results, so that no
// kernel can tell whether it finds poison or an answer.
func (d *Device) poison(argument int, buffer []byte) {
	state := d.random.Uint64() | 1
	next := func() uint64 {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		return state
	}
	switch d.loaded.Arguments[argument].Type {
	case "f32":
		for at := 0; at+4 <= len(buffer); at += 4 {
			binary.LittleEndian.PutUint32(buffer[at:], math.Float32bits(float32(int32(next()))*0x1p-30))
		}
	case "f64":
		for at := 0; at+8 <= len(buffer); at += 8 {
			binary.LittleEndian.PutUint64(buffer[at:], math.Float64bits(float64(int64(next()))*0x1p-62))
		}
	default:
		for at := range buffer {
			buffer[at] = byte(next() >> 32)
		}
	}
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
