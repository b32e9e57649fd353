package objective

import (
	"fmt"

	"pawl/kernels"
	"pawl/space"
)

// Roofline is the best that a device can do, per second. Zero is unknown.
type Roofline struct {
	Flops float64 `json:"flops,omitempty"`
	// Bytes is the bandwidth of the device's memory. It bounds launches that
	// find nothing in the caches.
	Bytes float64 `json:"bytes,omitempty"`
	// Loose says that it is no measure of a kernel, only of an impossible time: nothing comes
	// near it, in caches or out of them.
	Loose bool `json:"-"`
}

// Comparable is the roofline that a kernel can be measured against: unknown for a loose
// one.
func (r Roofline) Comparable() Roofline {
	if r.Loose {
		return Roofline{}
	}
	return r
}

// rooflineTolerance is by how much a time must undercut the roofline before it is
// called impossible: clocks and formulas are not exact to the last per cent.
const rooflineTolerance = 1.05

// Floor returns the shortest time that one launch can take, in milliseconds, or
// 0 where the manifest or the device does not say.
func (r Roofline) Floor(work kernels.Work, env space.Environment) (float64, error) {
	floor := 0.0
	for _, bound := range []struct {
		amount *space.Expression
		speed  float64
	}{{work.Flops, r.Flops}, {work.Bytes, r.Bytes}} {
		if bound.amount == nil || bound.speed == 0 {
			continue
		}
		amount, err := bound.amount.Number(env)
		if err != nil {
			return 0, err
		}
		floor = max(floor, 1e3*amount/bound.speed)
	}
	return floor, nil
}

// impossiblyFast returns the failure of a time that no device could reach: whatever was
// timed, it was not all of the work.
func impossiblyFast(milliseconds, floor float64) *Failure {
	if milliseconds*rooflineTolerance >= floor {
		return nil
	}
	return &Failure{Bench, TooFast,
		fmt.Sprintf("%.4g ms, and the device cannot do this work in less than %.4g ms: the kernel, the work formulas or "+
			"the timing is wrong", milliseconds, floor)}
}
