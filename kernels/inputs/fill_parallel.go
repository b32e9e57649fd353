package inputs

import (
	"runtime"
	"sync"

	"pawl/kernels/element"
)

// block is the number of elements that are drawn before they are stored.
const block = 1 << 12

// fill shares the blocks of a buffer out between the cores.
func (r Recipe) fill(buffer []byte, element element.Type) {
	size := element.Size
	total := len(buffer) / size
	blocks := (total + block - 1) / block
	lanes := min(runtime.GOMAXPROCS(0), (blocks+3)/4) // a goroutine for a few blocks costs more than it saves
	var done sync.WaitGroup
	for lane := range lanes {
		done.Go(func() {
			values := make([]float64, block)
			for b := lane; b < blocks; b += lanes {
				first, last := b*block, min((b+1)*block, total)
				if !element.Float {
					for i := first; i < last; i++ { // not by way of floats, which have not enough digits for all of them
						element.PutInteger(buffer[i*size:], r.integer(uint64(i)))
					}
					continue
				}
				r.draw(uint64(first), values[:last-first])
				element.StoreAll(buffer[first*size:last*size], values[:last-first])
			}
		})
	}
	done.Wait()
}
