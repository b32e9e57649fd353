package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"pawl/internal/page"
	"pawl/objective"
)

// Change is a figure of two launches.
type Change struct {
	// Name is what it is, in words, and Counter the profiler's name; empty for a figure of the compiler.
	Name    string  `json:"name"`
	Counter string  `json:"counter,omitempty"`
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
	// Text has both with their unit.
	Text string `json:"text"`
	size float64
}

// Comparison is what differs between two launches.
type Comparison struct {
	// Speedup is the time before over the time after; 0 where one of them is unknown.
	Speedup float64 `json:"speedup,omitempty"`
	Before  Limiter `json:"before"`
	After   Limiter `json:"after"`
	// Changes are the largest, largest first, at most ten.
	Changes []Change `json:"changes"`
	// Why says in a sentence where the difference comes from.
	Why string `json:"why"`
	// Profiled says that both were profiled; else only the compiler's figures are compared.
	Profiled bool `json:"profiled"`
}

const mostChanges = 10

// leastChange is how large a change must be to be mentioned: a natural logarithm.
const leastChange = 0.05

// figure is something about a launch that means something to a person.
type figure struct {
	name, counter, unit string
	// floor is added to both values, so that small values do not matter; changes between values up to least do not
	// either.
	floor, least float64
	// of is the value; nil for that of the counter.
	of func(Facts) (float64, bool)
	// slows is the direction of the time when it grows: 1 longer, -1 shorter; 0 where that depends.
	slows float64
}

func (g figure) value(f Facts) (float64, bool) {
	if g.of == nil {
		return f.get(g.counter), f.has(g.counter)
	}
	return g.of(f)
}

// change compares two launches. It is not ok where that is no news.
func (g figure) change(before, after Facts) (c Change, ok bool) {
	a, there := g.value(before)
	b, also := g.value(after)
	size := math.Abs(math.Log((b + g.floor) / (a + g.floor)))
	return Change{g.name, g.counter, a, b, amount(a, g.unit) + " → " + amount(b, g.unit), size},
		there && also && a >= 0 && b >= 0 && max(a, b) > g.least && size >= leastChange
}

var counted = append([]figure{
	{name: "multiprocessors busy", counter: smBusy, unit: "%", floor: 1},
	{name: "memory busy", counter: memoryBusy, unit: "%", floor: 1},
	{name: "L2 busy", counter: l2Busy, unit: "%", floor: 1},
	{name: "L1 and shared memory busy", counter: l1Busy, unit: "%", floor: 1},
	{name: "tensor cores busy", counter: tensorBusy, unit: "%", floor: 1},
	{name: "FMA units busy", counter: fmaBusy, unit: "%", floor: 1},
	{name: "special functions busy", counter: specialBusy, unit: "%", floor: 1},
	{name: "issue slots used", counter: issueBusy, unit: "%", floor: 1},
	{name: "warps resident", counter: warpsActive, floor: 0.5},
	{name: "L1 hits", counter: l1Hits, unit: "%", floor: 2},
	{name: "L2 hits", counter: l2Hits, unit: "%", floor: 2},
	{name: "bytes read from memory", counter: bytesRead, unit: "byte", floor: 1e5},
	{name: "bytes written to memory", counter: bytesWritten, unit: "byte", floor: 1e5},
	{name: "instructions executed", counter: instructions, floor: 1e3},
	{name: "sectors of global memory", counter: sectorsGlobal, floor: 1e3},
	{name: "sectors of local memory", counter: sectorsLocal, floor: 1e3},
	{name: "passes over shared memory", counter: sharedPasses, floor: 1e3},
	{name: "bank conflicts", counter: "derived__memory_l1_wavefronts_shared_excessive", floor: 1e3},
	{name: "lanes at work an instruction", counter: threadsPerInst, floor: 1},
	{name: "registers a thread", counter: registers, floor: 4},
	{name: "shared memory a block", counter: sharedPerBlock, unit: "byte", floor: 1024},
	{name: "blocks", counter: gridSize, floor: 1},
	{name: "waves", counter: waves, floor: 0.1},
	{name: "threads a block", counter: blockSize, floor: 8},
	{name: "clock", counter: clock, unit: "hz", floor: 1e8},
	{name: "bytes used of a loaded sector", counter: bytesPerSector, floor: 1},
}, waits()...)

// waits are the shares of the warps' time that are spent at something.
func waits() (list []figure) {
	for _, r := range stallReasons {
		if r.try != "" {
			list = append(list, figure{
				name: "waits for " + r.meaning, counter: fmt.Sprintf(stallCounter, r.reason), unit: "share", floor: 0.05,
				least: 0.02, of: func(f Facts) (float64, bool) {
					stalls := f.Stalls()
					return StallShare(stalls, r.reason), stalls != nil
				},
			})
		}
	}
	return list
}

var compiled = []figure{
	resource("bytes spilled a thread", "", 4, 1, func(r *objective.Resources) int { return r.SpillStores + r.SpillLoads }),
	resource("registers a thread", "", 4, 0, func(r *objective.Resources) int { return r.Registers }),
	resource("shared memory a block", "byte", 1024, 0,
		func(r *objective.Resources) int { return r.Shared + r.StaticShared }),
	resource("warps that fit", "", 1, -1, func(r *objective.Resources) int {
		if r.Occupancy == nil {
			return -1
		}
		return r.Occupancy.Warps
	}),
	{name: "waves", floor: 0.1, of: func(f Facts) (float64, bool) { return Facts{Resources: f.Resources}.wavesOf() }},
}

// resource is a figure that the compiler says; one below 0 is unknown.
func resource(name, unit string, floor, slows float64, of func(*objective.Resources) int) figure {
	return figure{name: name, unit: unit, floor: floor, slows: slows, of: func(f Facts) (float64, bool) {
		if f.Resources == nil {
			return 0, false
		}
		value := of(f.Resources)
		return float64(value), value >= 0
	}}
}

// Compare says what differs between two launches.
func Compare(before, after Facts) Comparison {
	c := Comparison{
		Before:   before.Limiter(),
		After:    after.Limiter(),
		Profiled: len(before.Metrics) > 0 && len(after.Metrics) > 0,
	}
	if a, b := before.seconds(), after.seconds(); a > 0 && b > 0 {
		c.Speedup = a / b
	}
	if c.Profiled {
		c.add(counted, before, after)
	}
	if len(c.Changes) < mostChanges {
		c.add(compiled, before, after)
	}
	slices.SortStableFunc(c.Changes, func(a, b Change) int { return cmp.Compare(b.size, a.size) })
	c.Changes = c.Changes[:min(len(c.Changes), mostChanges)]
	c.Why = why(before, after, c)
	return c
}

func (c *Comparison) add(figures []figure, before, after Facts) {
	for _, figure := range figures {
		known := slices.ContainsFunc(c.Changes, func(had Change) bool { return had.Name == figure.name })
		if change, ok := figure.change(before, after); ok && !known {
			c.Changes = append(c.Changes, change)
		}
	}
}

func amount(value float64, unit string) string {
	switch unit {
	case "%":
		return page.WholePercent(value / 100)
	case "share":
		return page.WholePercent(value)
	case "byte":
		return page.Bytes(value)
	case "hz":
		return fmt.Sprintf("%.0f MHz", value/1e6)
	}
	return page.Figure(value)
}
