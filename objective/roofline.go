package objective

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
