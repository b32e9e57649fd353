package simulate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pawl/objective"
)

// DeviceTime says how long a trial takes a GPU.
type DeviceTime string

// The ways to know it.
const (
	// AsRecorded is what the file says: what whoever recorded it took, the samples alone in our own
	// records.
	AsRecorded DeviceTime = "recorded"
	// AsTuned is what tune takes: for a check, for a first look, and where the point is not hopeless by
	// then for a brief warm-up and the samples.
	AsTuned DeviceTime = "tune"
	// InFull is what tune took before there was a first look: every point is warmed up for and measured.
	InFull DeviceTime = "full"
)

// DeviceTimes are the names.
func DeviceTimes() []string { return []string{string(AsRecorded), string(AsTuned), string(InFull)} }

// What tune takes a GPU for, in milliseconds and in launches, as objective/cuda has it. A study's trials say
// how long it took; docs/search.md holds these numbers against them.
const (
	overheadMilliseconds = 5.0 // worker, buffers, their contents and comparisons
	lookMilliseconds     = 2.0 // the part of that which a point has at first look
	checkLaunches        = 2
	lookLaunches         = 3
	unseenLaunches       = 4
	sampleMilliseconds   = 1.0 // a sample has so many launches as take that long
	warmUpMilliseconds   = 10.0
	briefMilliseconds    = 2.0
	// After so long without a sample a GPU has rested, and the warm-up is not brief.
	restTime = 100 * time.Millisecond
)

// check fails for a name that is none.
func (d DeviceTime) check() error {
	if d == "" || slices.Contains(DeviceTimes(), string(d)) {
		return nil
	}
	return fmt.Errorf("simulate: no device time %q; there are %s", d, strings.Join(DeviceTimes(), ", "))
}

// clock says in words what the seconds of a report are.
func (d DeviceTime) clock() string {
	if d == "" || d == AsRecorded {
		return "recorded time"
	}
	return "recorded compile time and modelled device time"
}

// looks reports whether a first look is all that a point gets while the best takes incumbent
// milliseconds, 0 for none.
func (d DeviceTime) looks(milliseconds, incumbent float64) bool {
	return d == AsTuned && incumbent > 0 && milliseconds > objective.FirstLook*incumbent
}

// of returns how long a point that works takes the device, at so many milliseconds a launch, while the
// best takes incumbent milliseconds, 0 for none, so long after the last sample.
func (d DeviceTime) of(recorded time.Duration, milliseconds, incumbent float64, idle time.Duration) time.Duration {
	if d == "" || d == AsRecorded {
		return recorded
	}
	launches := float64(checkLaunches + lookLaunches)
	if d.looks(milliseconds, incumbent) {
		return inMilliseconds(lookMilliseconds + launches*milliseconds)
	}
	warmUp := warmUpMilliseconds
	if d == AsTuned && idle < restTime {
		warmUp = briefMilliseconds
	}
	sample := max(sampleMilliseconds, milliseconds)
	launches += min(unseenLaunches, max(1, sampleMilliseconds/milliseconds))
	return inMilliseconds(overheadMilliseconds + launches*milliseconds + max(warmUp, sample) + objective.UsualFloor*sample)
}

func inMilliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
