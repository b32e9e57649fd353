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
					r.fillIntegers(buffer[first*size:last*size], element, uint64(first))
					continue
				}
				r.draw(uint64(first), values[:last-first])
				element.StoreAll(buffer[first*size:last*size], values[:last-first])
			}
		})
	}
	done.Wait()
}

// fillIntegers writes elements from the first on. They do not go by way of floats,
// which have not enough digits for all of them.
func (r Recipe) fillIntegers(buffer []byte, element element.Type, first uint64) {
	for at := 0; at < len(buffer); at += element.Size {
		element.PutInteger(buffer[at:], r.integer(first))
		first++
	}
}
