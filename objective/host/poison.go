package host

import (
	"encoding/binary"
	"math"
)

// poison fills the outputs with random numbers that look like results, so that no
// kernel can tell whether it finds poison or an answer.
func (d *Device) poison() {
	for i, b := range present(d.outputs) {
		state := d.random.Uint64() | 1
		next := func() uint64 {
			state ^= state << 13
			state ^= state >> 7
			state ^= state << 17
			return state
		}
		switch d.loaded.Arguments[i].Type {
		case "f32":
			for at := 0; at+4 <= len(b.data); at += 4 {
				binary.LittleEndian.PutUint32(b.data[at:], math.Float32bits(float32(int32(next()))*0x1p-30))
			}
		case "f64":
			for at := 0; at+8 <= len(b.data); at += 8 {
				binary.LittleEndian.PutUint64(b.data[at:], math.Float64bits(float64(int64(next()))*0x1p-62))
			}
		default:
			for at := range b.data {
				b.data[at] = byte(next() >> 32)
			}
		}
	}
}
