package cuda

import (
	"slices"
	"time"

	"pawl/objective/cuda/monitor"
	"pawl/objective/worker"
)

const (
	// risenClock is the share of the highest clock seen that counts as warmed up.
	risenClock = 0.98
	// othersValid is how long the list of other processes on the GPU is used before it
	// is read again: reading it costs about as much as a sample.
	othersValid = 200 * time.Millisecond
)

// watch is what the device knows about the GPU's clock and about who else uses it.
type watch struct {
	device       string           // UUID
	monitor      *monitor.Monitor // nil where the GPU cannot be watched
	highestClock int              // that a warmed-up GPU has shown, in MHz
	others       []monitor.Process
	othersRead   time.Time
}

// newWatch watches a GPU, if that is possible; else all samples are kept.
func newWatch(uuid string) *watch {
	m, _ := monitor.Open(uuid) // nil with an error
	return &watch{device: uuid, monitor: m}
}

func (w *watch) read(states []monitor.State) []monitor.State {
	if w.monitor == nil {
		return nil
	}
	state, err := w.monitor.Read()
	if err != nil {
		w.monitor.Close()
		w.monitor = nil // a GPU that does not answer now will not answer later
		return nil
	}
	return append(states, state)
}

// clockShare returns the lowest clock of some states as a share of the highest that a warmed-up GPU has
// shown: by as much may a time be the clock's fault. It is 0 where that is not known.
func (w *watch) clockShare(states []monitor.State) float64 {
	if len(states) == 0 || w.highestClock == 0 {
		return 0
	}
	lowest := slices.MinFunc(states, func(a, b monitor.State) int { return a.SMClock - b.SMClock })
	return min(float64(lowest.SMClock)/float64(w.highestClock), 1)
}

// risen says that the clock has settled, as far as is known. Highest is the highest clock
// of this warm-up.
func (w *watch) risen(highest *int) bool {
	states := w.read(nil)
	if len(states) == 0 {
		return true
	}
	*highest = max(*highest, states[0].SMClock, w.highestClock)
	if !settled(states[0], *highest) {
		return false
	}
	w.highestClock = *highest
	return true
}

// settled says that no more work raises the clock: it is up, or the power limit keeps it down.
func settled(state monitor.State, highest int) bool {
	return float64(state.SMClock) >= risenClock*float64(highest) || state.Reasons&monitor.SoftwarePowerCap != 0
}

// discard drops the samples that were taken while the clock was throttled.
func (w *watch) discard(timing *worker.Timing, states []monitor.State) {
	if len(states) != len(timing.Samples)+1 {
		return
	}
	keep, seen := monitor.Judge(states)
	var kept []float64
	for i, sample := range timing.Samples {
		if keep[i] {
			kept = append(kept, sample)
		}
	}
	timing.Samples = kept
	seen.Device, timing.Conditions = w.device, &seen
	w.nameOthers(timing.Conditions)
}

// nameOthers adds the other processes on the GPU.
func (w *watch) nameOthers(c *worker.Conditions) {
	if now := time.Now(); now.Sub(w.othersRead) > othersValid && w.monitor != nil {
		w.othersRead = now
		w.others, _ = w.monitor.Others() // without the list there is nobody to name
	}
	for _, other := range w.others {
		c.OtherProcesses = append(c.OtherProcesses, other.String())
		c.Disturbed = c.Disturbed || other.Busy == nil || *other.Busy > 0
	}
}
