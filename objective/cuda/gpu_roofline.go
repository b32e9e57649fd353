package cuda

import (
	"strings"

	"pawl/objective"
	"pawl/objective/cuda/driver"
)

// tensorFlops is how many operations of a dense product of 16-bit floats a
// multiprocessor does per clock, by compute capability: the most that any code
// can do in such types, and more than it can do in wider ones.
var tensorFlops = map[[2]int]float64{
	{7, 0}: 1024, {7, 5}: 1024, {8, 0}: 2048, {8, 6}: 1024, {8, 7}: 1024, {8, 9}: 1024,
	{9, 0}: 4096, {10, 0}: 8192, {10, 3}: 8192, {12, 0}: 1024, {12, 1}: 1024,
}

// narrowing is how much faster 8-bit types are than 16-bit ones.
const narrowing = 2

// roofline returns the best that a GPU can do at its highest clocks.
func roofline(a driver.Attributes, elements []string) objective.Roofline {
	flops := tensorFlops[[2]int{a.Major, a.Minor}] * float64(a.Multiprocessors) * float64(a.Clock) * 1e3
	for _, name := range elements {
		if strings.HasPrefix(name, "e4") || strings.HasPrefix(name, "e5") || name == "u8" || name == "i8" {
			flops *= narrowing
			break
		}
	}
	return objective.Roofline{
		Flops: flops,
		// Two transfers per clock, eight bits to the byte.
		Bytes: 2 * float64(a.MemoryClock) * 1e3 * float64(a.MemoryBusWidth) / 8,
	}
}
