package cuda

import (
	"fmt"
	"slices"

	"pawl/kernels"
	"pawl/objective/cuda/driver"
	"pawl/objective/worker"
)

// Some compilers add pointers behind a kernel's arguments, to memory that its blocks share out
// among themselves and that nobody else looks at. Launches follow each other, so that one piece
// of memory for each such pointer serves all of them.

// mostScratch is how many such pointers there may be.
const mostScratch = 4

// needScratch makes sure that there is memory for what is launched next.
func (d *Device) needScratch(calls []kernels.Call) error {
	for _, call := range calls {
		if len(call.Scratch) > mostScratch {
			return fmt.Errorf("kernel %s wants %d pieces of scratch memory, at most %d are supported", call.Entry,
				len(call.Scratch), mostScratch)
		}
		for i, each := range call.Scratch {
			if len(d.scratch) <= i {
				d.scratch = append(d.scratch, zone{})
			}
			needed := int(each * call.Grid[0] * call.Grid[1] * call.Grid[2])
			if needed <= d.scratch[i].size {
				continue
			}
			if d.scratch[i].at != 0 {
				_ = d.context.Free(d.scratch[i].at)
			}
			d.scratch[i] = zone{}
			at, err := d.context.Allocate(needed)
			if driver.CodeOf(err) == driver.OutOfMemory {
				return &worker.Fault{Kind: worker.NoMemory, Detail: fmt.Sprintf("%d bytes of scratch memory", needed)}
			}
			if err != nil {
				return err
			}
			d.scratch[i] = zone{at, needed}
		}
	}
	return nil
}

// withScratch puts the pointers behind the arguments of a call, null where nothing is needed.
func (d *Device) withScratch(call kernels.Call, p *parameters) []int {
	arguments := slices.Clip(call.Arguments)
	for i, each := range call.Scratch {
		place := p.n - mostScratch + i
		p.setAddress(place, 0)
		if each > 0 {
			p.setAddress(place, d.scratch[i].at)
		}
		arguments = append(arguments, place)
	}
	return arguments
}
