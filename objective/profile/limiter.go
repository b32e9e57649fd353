package profile

import (
	"fmt"
	"strings"

	"pawl/internal/page"
)

// What a launch may spend its time at.
const (
	Compute  = "compute"
	Memory   = "memory"
	L2       = "the L2 cache"
	L1       = "the L1 cache and shared memory"
	Latency  = "latency"
	Uneven   = "an uneven load"
	Overhead = "the launch itself"
)

// busyEnough is how busy a part of the device is when it limits a launch: Nsight Compute draws
// the same line between launches that use the device and those that wait.
const busyEnough = 0.6

// LaunchBound is below how many seconds a launch is mostly the launch.
const LaunchBound = 5e-6

// Limiter is what a launch spends its time at.
type Limiter struct {
	// Name is one of the constants above; empty where nobody knows.
	Name string `json:"name,omitempty"`
	// Busy is how busy that part is, from 0 to 1.
	Busy float64 `json:"busy,omitempty"`
	Text string  `json:"text"`
}

// Limiter names what holds a launch.
func (f Facts) Limiter() Limiter {
	if s := f.seconds(); f.onGPU() && s > 0 && s < LaunchBound {
		return Limiter{Overhead, 0,
			fmt.Sprintf("The launch takes %s: most of that is the launch itself.", page.Milliseconds(1e3*s))}
	}
	if !f.has(smBusy) {
		return f.unprofiled()
	}
	if idle, there := f.uneven(); there && idle >= 0.3 {
		return Limiter{Uneven, 1 - idle,
			fmt.Sprintf("The load is uneven: multiprocessors are idle %s of the time on average.", page.WholePercent(idle))}
	}
	var best Limiter
	for _, part := range []struct{ name, counter, text string }{
		{Memory, memoryBusy, "The device's memory is"}, {Compute, smBusy, "The multiprocessors are"},
		{L2, l2Busy, "The L2 cache is"}, {L1, l1Busy, "The L1 cache and shared memory are"},
	} {
		if busy := f.share(part.counter); busy > best.Busy {
			best = Limiter{part.name, busy, part.text}
		}
	}
	// Memory that is nearly as busy as a cache before it is what the cache waits for.
	if memory := f.share(memoryBusy); best.Name == L2 && memory > 0.8*best.Busy {
		best = Limiter{Memory, memory, "The device's memory is"}
	}
	if best.Busy < busyEnough {
		return Limiter{Latency, best.Busy,
			fmt.Sprintf("No part of the device is busy (%s at most): warps wait.", page.WholePercent(best.Busy))}
	}
	best.Text += fmt.Sprintf(" busy %s of the time.", page.WholePercent(best.Busy))
	return best
}

func (f Facts) unprofiled() Limiter {
	share, bound := f.RooflineShare()
	switch {
	case bound == "":
		return Limiter{Text: "What limits it is not known without a profiler."}
	case share >= busyEnough:
		return Limiter{bound, share,
			fmt.Sprintf("It reaches %s of what the device's %s allows.", page.WholePercent(share), bound)}
	}
	return Limiter{Text: fmt.Sprintf("It reaches %s of what the device's %s allows; what limits it is not known "+
		"without a profiler.", page.WholePercent(share), bound)}
}

// Occupancy says how many warps are resident and what keeps further ones out; empty where that is unknown.
func (f Facts) Occupancy() string {
	if f.has(warpsActive, occupancyShare) {
		text := fmt.Sprintf("%.1f warps are resident on a multiprocessor (%s of the places)", f.get(warpsActive),
			f.percent(occupancyShare))
		if by := f.occupancyLimits(); by != "" {
			text += ", limited by " + by
		}
		return text
	}
	if f.Resources != nil && f.Resources.Occupancy != nil {
		return f.Resources.Occupancy.String()
	}
	return ""
}

// occupancyLimits names what allows the fewest blocks.
func (f Facts) occupancyLimits() string {
	if f.get(occupancyMost) >= 100 {
		return ""
	}
	fewest, names := 0.0, []string(nil)
	for _, limit := range []struct{ name, counter string }{
		{"registers", "launch__occupancy_limit_registers"}, {"shared memory", "launch__occupancy_limit_shared_mem"},
		{"threads", "launch__occupancy_limit_warps"}, {"blocks", "launch__occupancy_limit_blocks"},
		{"barriers", "launch__occupancy_limit_barriers"},
	} {
		blocks := f.get(limit.counter)
		switch {
		case !f.has(limit.counter):
		case names == nil || blocks < fewest:
			fewest, names = blocks, []string{limit.name}
		case blocks == fewest:
			names = append(names, limit.name)
		}
	}
	return and(names)
}

func and(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
