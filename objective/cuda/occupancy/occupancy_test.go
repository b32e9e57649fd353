package occupancy

import (
	"math"
	"strings"
	"testing"
)

// The expected figures are worked out by hand from what one multiprocessor of sm_90 has:
// 2,048 threads, 65,536 registers, 228 KiB of shared memory of which 1 KiB per block is the
// driver's, 32 blocks.
func TestFit(t *testing.T) {
	hopper, err := Find("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		block   Block
		blocks  int
		limiter string
	}{
		// 32 × 256 × 8 = 65,536: all of them, as threads
		{Block{Threads: 256, Registers: 32, Shared: 0}, 8, Registers},
		// 33 × 32 = 1,056, as 1,280: 51 warps, 48 in fours
		{Block{Threads: 256, Registers: 33, Shared: 0}, 6, Registers},
		{Block{Threads: 256, Registers: 24, Shared: 0}, 8, Threads},                    // 2,048 / 256
		{Block{Threads: 32, Registers: 16, Shared: 0}, 32, Blocks},                     // 64 warps of threads, but 32 blocks
		{Block{Threads: 128, Registers: 32, Shared: 48 << 10}, 4, SharedMemory},        // 228 / 49
		{Block{Threads: 384, Registers: 168, Shared: 227 << 10}, 1, Registers},         // both allow one
		{Block{Threads: 128, Registers: 64, Shared: 227 << 10}, 1, SharedMemory},       // 228 / 228
		{Block{Threads: 1024, Registers: 80, Shared: 0}, 0, Registers},                 // 32 warps × 2,560 = 81,920
		{Block{Threads: 100, Registers: 16, Shared: (227 << 10) + 1}, 0, SharedMemory}, // a byte too many
	} {
		o := hopper.Fit(c.block)
		if o.Blocks != c.blocks || o.Limiter != c.limiter || o.Of != 64 || o.Warps != c.blocks*((c.block.Threads+31)/32) {
			t.Errorf("%+v: %+v, want %d by %s", c.block, o, c.blocks, c.limiter)
		}
	}
}

func TestWaves(t *testing.T) {
	for _, c := range []struct {
		grid        int64
		waves, tail float64
	}{
		{264, 1, 0}, {265, 265.0 / 264, 263.0 / 264}, {132, 0.5, 0.5}, {528, 2, 0}, {0, 0, 0},
	} {
		o := Occupancy{Blocks: 2}.Over(c.grid, 132)
		if math.Abs(o.Waves-c.waves) > 1e-12 || math.Abs(o.Tail-c.tail) > 1e-12 {
			t.Errorf("%d blocks: %+v", c.grid, o)
		}
	}
	o := Occupancy{Blocks: 2, Warps: 8, Of: 64, Limiter: Registers}.Over(363, 132)
	if got, want := o.String(),
		"2 blocks a multiprocessor (8 of 64 warps), limited by registers; 1.38 waves, 62 % of the last one empty"; got !=
		want {
		t.Errorf("%q, want %q", got, want)
	}
	if o := (Occupancy{}).Over(7, 132); o.Waves != 0 {
		t.Errorf("nothing fits: %+v", o)
	}
}

func TestFindNamesWhatIsKnown(t *testing.T) {
	for _, name := range []string{"", "sm_", "sm_99", "90", "sm_9x", "sm_-90"} {
		if a, err := Find(name); err == nil || !strings.Contains(err.Error(), "sm_90") {
			t.Errorf("%q is %+v, %v", name, a, err)
		}
	}
	if a, err := Find("sm_100a"); err != nil || a.Major != 10 || a.Minor != 0 {
		t.Errorf("%+v, %v", a, err)
	}
}
