// Package occupancy says how many blocks of a kernel a multiprocessor holds at once, what
// limits that, and how a grid falls into waves of blocks. It is arithmetic on the compiler's
// figures and needs no GPU: registers are given out to warps, shared memory to blocks, each
// in units of its own.
package occupancy

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"pawl/internal/page"
)

// Block is what one block of a kernel needs.
type Block struct {
	Threads   int
	Registers int // per thread
	Shared    int // bytes, static and dynamic
}

// Occupancy is how much of a multiprocessor a kernel fills.
type Occupancy struct {
	// Blocks is how many are resident at once, Warps theirs, of at most Of.
	Blocks int `json:"blocks"`
	Warps  int `json:"warps"`
	Of     int `json:"of"`
	// Limiter is what keeps further blocks out: registers, shared memory, threads or blocks.
	Limiter string `json:"limiter"`
	// Waves is how many times the whole device is filled by the grid; Tail the share of the
	// last wave's places that stay empty. Both are 0 where the grid is unknown.
	Waves float64 `json:"waves,omitempty"`
	Tail  float64 `json:"tail,omitempty"`
}

// Share is the share of the warps that a multiprocessor could hold.
func (o Occupancy) Share() float64 { return float64(o.Warps) / float64(o.Of) }

// String says it in words.
func (o Occupancy) String() string {
	text := fmt.Sprintf("%s a multiprocessor (%d of %d warps)", page.Count(o.Blocks, "block"), o.Warps, o.Of)
	if o.Warps < o.Of {
		text += ", limited by " + o.Limiter
	}
	switch {
	case o.Waves == 1:
		text += "; one wave"
	case o.Waves > 0:
		text += fmt.Sprintf("; %.3g waves", o.Waves)
	}
	if o.Tail > 0 {
		text += fmt.Sprintf(", %s of the last one empty", page.WholePercent(o.Tail))
	}
	return text
}

// What limits occupancy.
const (
	Registers    = "registers"
	SharedMemory = "shared memory"
	Threads      = "threads"
	Blocks       = "blocks"
)

const (
	warpSize = 32
	// registerUnit is what the registers of a warp are rounded up to, warpUnit how many
	// schedulers share them evenly.
	registerUnit = 256
	warpUnit     = 4
	sharedUnit   = 128
)

// Fit returns how many blocks fit. Where several limits are equally tight, the one named is
// the one that costs most to move: registers, then shared memory, then the rest.
func (m Multiprocessor) Fit(b Block) Occupancy {
	warps := (b.Threads + warpSize - 1) / warpSize
	o := Occupancy{Of: m.Threads / warpSize}
	if warps == 0 {
		return o
	}
	type limit struct {
		blocks int
		name   string
	}
	tightest := slices.MinFunc([]limit{
		{m.byRegisters(b.Registers, warps), Registers}, {m.byShared(b.Shared), SharedMemory},
		{o.Of / warps, Threads}, {m.Blocks, Blocks},
	}, func(a, b limit) int { return cmp.Compare(a.blocks, b.blocks) })
	o.Blocks, o.Warps, o.Limiter = tightest.blocks, tightest.blocks*warps, tightest.name
	return o
}

// byRegisters is how many blocks the registers are enough for.
func (m Multiprocessor) byRegisters(registers, warps int) int {
	if registers == 0 {
		return math.MaxInt
	}
	resident := m.Registers / roundUp(registers*warpSize, registerUnit)
	return resident / warpUnit * warpUnit / warps
}

// byShared is how many blocks the shared memory is enough for. The driver
// reserves some of it for each block.
func (m Multiprocessor) byShared(shared int) int {
	if shared += m.Reserved; shared == 0 {
		return math.MaxInt
	}
	return m.Shared / roundUp(shared, sharedUnit)
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// Over adds how a grid of so many blocks falls into waves over a device.
func (o Occupancy) Over(grid int64, multiprocessors int) Occupancy {
	places := int64(o.Blocks) * int64(multiprocessors)
	if places == 0 || grid == 0 {
		return o
	}
	o.Waves = float64(grid) / float64(places)
	if left := grid % places; left > 0 {
		o.Tail = 1 - float64(left)/float64(places)
	}
	return o
}
