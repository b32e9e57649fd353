package process

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Load is what other programs use of the cores that this one may run on.
type Load struct {
	// Cores is how many of them are busy, on average, of so many that there are.
	Cores float64
	Of    int
	// Programs are the names of those that use most, at most three; none where they cannot be seen.
	Programs []string
}

// Others watches for a while what other programs do. It answers false where nobody knows.
func Others(watch time.Duration) (Load, bool) {
	before, known := readUsage()
	if !known {
		return Load{}, false
	}
	time.Sleep(watch)
	after, known := readUsage()
	return before.until(after), known
}

// usage is what programs have used of the processors so far, in ticks of the clock.
type usage struct {
	cores       int
	busy, total uint64 // of all cores together
	programs    map[program]uint64
}

type program struct {
	process int
	name    string
}

// visible is the share of a core from which on a program is named.
const visible = 0.1

// until is the load between two readings.
func (t usage) until(later usage) Load {
	load := Load{Of: later.cores}
	passed := float64(later.total - t.total)
	if passed <= 0 {
		return load
	}
	share := func(used uint64) float64 { return float64(later.cores) * float64(used) / passed }
	load.Cores = share(later.busy - t.busy)
	used := map[string]float64{}
	for p, now := range later.programs {
		if before := t.programs[p]; now > before {
			used[p.name] += share(now - before)
		}
	}
	maps.DeleteFunc(used, func(_ string, cores float64) bool { return cores < visible })
	load.Programs = slices.SortedFunc(maps.Keys(used), func(a, b string) int {
		return cmp.Or(cmp.Compare(used[b], used[a]), cmp.Compare(a, b))
	})
	load.Programs = load.Programs[:min(len(load.Programs), 3)]
	return load
}
