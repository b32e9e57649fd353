package occupancy

import (
	"fmt"
	"slices"
	"strings"

	"pawl/internal/collect"
)

// Multiprocessor is what one multiprocessor has for all its blocks.
type Multiprocessor struct {
	Threads   int
	Blocks    int
	Registers int
	Shared    int // bytes
	// Reserved is what the driver takes of the shared memory for each block, in bytes.
	Reserved int
}

// Architecture is a generation of GPUs, by what its best known product has.
type Architecture struct {
	Major, Minor int
	Multiprocessor
	// SharedPerBlock is the most that one block gets, in bytes.
	SharedPerBlock int
	// Product has so many Multiprocessors.
	Product         string
	Multiprocessors int
	// Clock is its highest, MemoryClock its memory's, both in kHz, and Bus the memory's width in bits:
	// what a driver says of the product, and its data sheet of those that nobody here has. Of two
	// products they are the faster one's, so that the time which they allow is a bound for both.
	Clock, MemoryClock, Bus int
}

// registers is how many every architecture of the list has.
const registers = 1 << 16

// architectures are those that can be compiled for without a GPU.
var architectures = []Architecture{
	{7, 0, Multiprocessor{2048, 32, registers, 96 << 10, 0}, 96 << 10, "V100", 80, 1_530_000, 877_000, 4096},
	{7, 5, Multiprocessor{1024, 16, registers, 64 << 10, 0}, 64 << 10, "T4", 40, 1_590_000, 5_001_000, 256},
	{8, 0, Multiprocessor{2048, 32, registers, 164 << 10, 1 << 10}, 163 << 10, "A100", 108, 1_410_000, 1_593_000, 5120},
	{8, 6, Multiprocessor{1536, 16, registers, 100 << 10, 1 << 10}, 99 << 10, "A10", 72, 1_695_000, 6_251_000, 384},
	{8, 9, Multiprocessor{1536, 24, registers, 100 << 10, 1 << 10}, 99 << 10, "L40S", 142, 2_520_000, 9_001_000, 384},
	{9, 0, Multiprocessor{2048, 32, registers, 228 << 10, 1 << 10}, 227 << 10, "H100 SXM or H200", 132, 1_980_000,
		3_201_000, 6016},
	{10, 0, Multiprocessor{2048, 32, registers, 228 << 10, 1 << 10}, 227 << 10, "B200", 148, 1_965_000, 3_996_000, 8192},
	{12, 0, Multiprocessor{1536, 24, registers, 100 << 10, 1 << 10}, 99 << 10, "RTX 5090", 170, 2_407_000, 14_001_000,
		512},
}

// Find returns the architecture of a name such as sm_90 or sm_90a.
func Find(name string) (Architecture, error) {
	known := collect.Each(architectures, func(a Architecture) string { return fmt.Sprintf("sm_%d%d", a.Major, a.Minor) })
	if at := slices.Index(known, strings.TrimRight(name, "af")); at >= 0 {
		return architectures[at], nil
	}
	return Architecture{}, fmt.Errorf("no architecture %q; known without a GPU are %s", name, strings.Join(known, ", "))
}

// Of returns the architecture of a compute capability.
func Of(major, minor int) (Architecture, bool) {
	return collect.First(architectures, func(a Architecture) bool { return a.Major == major && a.Minor == minor })
}
