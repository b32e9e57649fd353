package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"pawl/internal/page"
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

// mostChanges is how many changes a comparison has at most.
const mostChanges = 10

// watched are the counters that a comparison looks at: those that mean something to a person.
// Floor is a value that is little: below it a change is no news.
var watched = []struct {
	name, counter, unit string
	floor               float64
}{
	{"multiprocessors busy", smBusy, "%", 1}, {"memory busy", memoryBusy, "%", 1}, {"L2 busy", l2Busy, "%", 1},
	{"L1 and shared memory busy", l1Busy, "%", 1},
	{"tensor cores busy", tensorBusy, "%", 1}, {"FMA units busy", fmaBusy, "%", 1},
	{"special functions busy", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", "%", 1},
	{"issue slots used", issueBusy, "%", 1}, {"warps resident", warpsActive, "", 0.5}, {"L1 hits", l1Hits, "%", 2},
	{"L2 hits", l2Hits, "%", 2},
	{"bytes read from memory", bytesRead, "byte", 1e5}, {"bytes written to memory", bytesWritten, "byte", 1e5},
	{"instructions executed", instructions, "", 1e3}, {"sectors of global memory", sectorsGlobal, "", 1e3},
	{"sectors of local memory", sectorsLocal, "", 1e3},
	{"passes over shared memory", sharedPasses, "", 1e3},
	{"bank conflicts", "derived__memory_l1_wavefronts_shared_excessive", "", 1e3},
	{"lanes at work an instruction", threadsPerInst, "", 1}, {"registers a thread", registers, "", 4},
	{"shared memory a block", sharedPerBlock, "byte", 1024},
	{"blocks", gridSize, "", 1}, {"waves", waves, "", 0.1}, {"threads a block", "launch__block_size", "", 8},
	{"clock", clock, "hz", 1e8},
	{"bytes used of a loaded sector", bytesPerSector, "", 1},
	// On a processor.
	{"instructions", "instructions", "", 1e3}, {"cycles", "cycles", "", 1e3},
	{"cache references", "cache references", "", 1e3}, {"cache misses", "cache misses", "", 1e3},
	{"branches", "branches", "", 1e3}, {"branch misses", "branch misses", "", 1e3},
	{"page faults", "page faults", "", 10}, {"processor time (ns)", "processor nanoseconds", "", 1e3},
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
		c.Changes = changedCounters(before, after)
	}
	if len(c.Changes) < mostChanges {
		for _, change := range changedFigures(before, after) {
			if !slices.ContainsFunc(c.Changes, func(had Change) bool { return had.Name == change.Name }) {
				c.Changes = append(c.Changes, change)
			}
		}
	}
	slices.SortStableFunc(c.Changes, func(a, b Change) int { return cmp.Compare(b.size, a.size) })
	c.Changes = c.Changes[:min(len(c.Changes), mostChanges)]
	c.Why = why(before, after, c)
	return c
}

// leastChange is how large a change must be to be mentioned: a natural logarithm.
const leastChange = 0.05

func changedCounters(before, after Facts) (changes []Change) {
	for _, w := range watched {
		a, there := before.get(w.counter)
		b, also := after.get(w.counter)
		size := math.Abs(math.Log((b + w.floor) / (a + w.floor)))
		if !there || !also || a < 0 || b < 0 || !(size >= leastChange) {
			continue
		}
		changes = append(changes, Change{w.name, w.counter, a, b, amount(a, w.unit) + " → " + amount(b, w.unit), size})
	}
	for _, r := range stallReasons {
		if r.try == "" {
			continue
		}
		a, b := stallShare(before, r.reason), stallShare(after, r.reason)
		if size := math.Abs(math.Log((b + 0.05) / (a + 0.05))); size >= leastChange && max(a, b) > 0.02 {
			changes = append(changes,
				Change{"waits for " + r.meaning, fmt.Sprintf(stallCounter, r.reason), a, b,
					page.WholePercent(a) + " → " + page.WholePercent(b), size})
		}
	}
	return changes
}

func stallShare(f Facts, reason string) float64 {
	for _, s := range f.Stalls() {
		if s.Reason == reason {
			return s.Share
		}
	}
	return 0
}

func amount(value float64, unit string) string {
	switch unit {
	case "%":
		return page.WholePercent(value / 100)
	case "byte":
		return page.Bytes(value)
	case "hz":
		return fmt.Sprintf("%.0f MHz", value/1e6)
	}
	return page.Figure(value)
}

// changedFigures compares what the compiler says.
func changedFigures(before, after Facts) (changes []Change) {
	a, b := before.figures(), after.figures()
	for i, figure := range a {
		if i >= len(b) || !figure.known || !b[i].known {
			continue
		}
		size := math.Abs(math.Log((b[i].value + figure.floor) / (figure.value + figure.floor)))
		if size < leastChange {
			continue
		}
		changes = append(changes,
			Change{figure.name, "", figure.value, b[i].value,
				amount(figure.value, figure.unit) + " → " + amount(b[i].value, figure.unit), size})
	}
	return changes
}

// figure is one of the compiler's.
type figure struct {
	name, unit   string
	value, floor float64
	known        bool
}

// figures are in the same order for all launches.
func (f Facts) figures() []figure {
	r, mix := f.Resources, f.Mix
	var list []figure
	add := func(name, unit string, floor float64, known bool, value func() float64) {
		one := figure{name: name, unit: unit, floor: floor, known: known}
		if known {
			one.value = value()
		}
		list = append(list, one)
	}
	occupied := r != nil && r.Occupancy != nil
	add("bytes spilled a thread", "", 4, r != nil, func() float64 { return float64(r.SpillStores + r.SpillLoads) })
	add("registers a thread", "", 4, r != nil, func() float64 { return float64(r.Registers) })
	add("shared memory a block", "byte", 1024, r != nil, func() float64 { return float64(r.Shared + r.StaticShared) })
	add("warps that fit", "", 1, occupied, func() float64 { return float64(r.Occupancy.Warps) })
	add("waves", "", 0.1, occupied && r.Occupancy.Waves > 0, func() float64 { return r.Occupancy.Waves })
	for _, part := range []struct {
		where string
		count func() (all, tensor, local, shared, global, barrier, special int)
	}{
		{"in the hot loop", func() (int, int, int, int, int, int, int) {
			l := mix.Loop
			return l.Instructions, l.Tensor, l.Local, l.Shared, l.Global, l.Barrier, l.Special
		}},
		{"in all", func() (int, int, int, int, int, int, int) {
			l := mix.All
			return l.Instructions, l.Tensor, l.Local, l.Shared, l.Global, l.Barrier, l.Special
		}},
	} {
		for i, name := range []string{"instructions", "tensor-core instructions", "local-memory instructions",
			"shared-memory instructions", "global-memory instructions", "barriers", "special functions"} {
			add(name+" "+part.where, "", 4, mix != nil, func() float64 {
				var n [7]int
				n[0], n[1], n[2], n[3], n[4], n[5], n[6] = part.count()
				return float64(n[i])
			})
		}
	}
	return list
}
