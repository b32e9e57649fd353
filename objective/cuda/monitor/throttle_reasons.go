package monitor

import (
	"fmt"
	"strings"
)

// Reasons says why the clock is not higher: one bit for each reason that the
// driver gives. It is written in words, in JSON as well.
type Reasons uint64

// The reasons, with the driver's own bits.
const (
	Idle Reasons = 1 << iota
	ApplicationsClock
	SoftwarePowerCap
	HardwareSlowdown
	SyncBoost
	SoftwareThermal
	HardwareThermal
	HardwarePowerBrake
	DisplayClock
)

// throttling is what lowers the clock of a kernel while it runs. Idle means that
// nothing runs; the settings and sync boost are chosen and hold for every sample alike.
// The software power cap is where a heavy kernel always runs: it is part of how fast
// the kernel is, and a sample is discarded only if the clock itself falls. A reason that
// a newer driver adds is named but not counted: if it matters, the clock shows it.
const throttling = HardwareSlowdown | SoftwareThermal | HardwareThermal | HardwarePowerBrake

// reasonNames are those of the bits, from the lowest.
var reasonNames = []string{
	"idle", "applications clock setting", "software power cap", "hardware slowdown", "sync boost",
	"software thermal slowdown", "hardware thermal slowdown", "hardware power brake", "display clock setting",
}

// Throttled reports whether something slows the GPU down.
func (r Reasons) Throttled() bool { return r&throttling != 0 }

// String lists the reasons in words; it is empty where there is none.
func (r Reasons) String() string {
	var names []string
	for bit, name := range reasonNames {
		if r&(1<<bit) != 0 {
			names = append(names, name)
			r &^= 1 << bit
		}
	}
	if r != 0 {
		names = append(names, fmt.Sprintf("unknown reason %#x", uint64(r)))
	}
	return strings.Join(names, ", ")
}

// MarshalText writes the reasons in words.
func (r Reasons) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
