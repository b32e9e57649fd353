package inputs

import (
	"math"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
)

// specialRun is how many elements have one kind of special numbers where there is one row only.
const specialRun = 8

// special fills a buffer with normal numbers and, row by row in turn, with such as are no numbers, or infinite, or with
// none. The first of a row is one, and a quarter of the others.
func special(buffer []byte, b arguments.Binding, e element.Type, seed uint64) {
	from, row := newStream(seed, b.Name), uint64(max(b.Row, 1))
	if b.Row == b.Count {
		row = specialRun
	}
	for i := range uint64(b.Count) {
		drawn := from.at(i)
		x := normal(Quantiles(), drawn)
		if i%row == 0 || drawn%4 == 0 {
			switch (i/row + from.at(^uint64(0))%4) % 4 {
			case 0:
				x = math.NaN()
			case 1:
				x = math.Inf(1)
			case 2:
				x = math.Inf(-1)
			}
		}
		e.Store(buffer[int(i)*e.Size:], x)
	}
}
