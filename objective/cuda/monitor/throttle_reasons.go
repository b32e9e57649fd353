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
	Idle               Reasons = 1 << 0
	ApplicationsClock  Reasons = 1 << 1
	SoftwarePowerCap   Reasons = 1 << 2
	HardwareSlowdown   Reasons = 1 << 3
	SyncBoost          Reasons = 1 << 4
	SoftwareThermal    Reasons = 1 << 5
	HardwareThermal    Reasons = 1 << 6
	HardwarePowerBrake Reasons = 1 << 7
	DisplayClock       Reasons = 1 << 8
)

// throttling is what lowers the clock of a kernel while it runs. Idle means that
// nothing runs; the settings and sync boost are chosen and hold for every sample alike.
// The software power cap is where a heavy kernel always runs: it is part of how fast
// the kernel is, and a sample is discarded only if the clock itself falls. A reason that
// a newer driver adds is named but not counted: if it matters, the clock shows it.
const throttling = HardwareSlowdown | SoftwareThermal | HardwareThermal | HardwarePowerBrake

var reasonNames = []struct {
	reason Reasons
	name   string
}{
	{Idle, "idle"},
	{ApplicationsClock, "applications clock setting"},
	{SoftwarePowerCap, "software power cap"},
	{HardwareSlowdown, "hardware slowdown"},
	{SyncBoost, "sync boost"},
	{SoftwareThermal, "software thermal slowdown"},
	{HardwareThermal, "hardware thermal slowdown"},
	{HardwarePowerBrake, "hardware power brake"},
	{DisplayClock, "display clock setting"},
}

// Throttled reports whether something slows the GPU down.
func (r Reasons) Throttled() bool { return r&throttling != 0 }

// String lists the reasons in words; it is empty where there is none.
func (r Reasons) String() string {
	var names []string
	for _, known := range reasonNames {
		if r&known.reason != 0 {
			names = append(names, known.name)
			r &^= known.reason
		}
	}
	if r != 0 {
		names = append(names, fmt.Sprintf("unknown reason %#x", uint64(r)))
	}
	return strings.Join(names, ", ")
}

// MarshalText writes the reasons in words.
func (r Reasons) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
