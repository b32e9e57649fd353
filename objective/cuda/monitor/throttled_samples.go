package monitor

import (
	"slices"

	"pawl/objective/worker"
)

// lowClock is the share of the run's median clock below which a sample is not
// comparable with the others. Clocks move in steps of about 1 %, so less would
// discard ordinary boosting; a sample 5 % slower would move a verdict. What people read
// about it is worker.WhyDiscarded.
const lowClock = 0.95

// Judge says which samples to keep, from the n+1 states around n samples, one
// before the first and one after each, and what the GPU did meanwhile. A sample is discarded when throttling
// was active at either end, or when the SM clock at either end was more than
// 5 % below the median of the run. Fewer than two states surround no sample.
func Judge(states []State) (keep []bool, seen worker.Conditions) {
	if len(states) == 0 {
		return []bool{}, seen
	}
	clocks := make([]int, len(states))
	var reasons Reasons
	for i, state := range states {
		clocks[i] = state.SMClock
		seen.Temperature = max(seen.Temperature, state.Temperature)
		seen.Power = max(seen.Power, state.Power)
		reasons |= state.Reasons
	}
	slices.Sort(clocks)
	seen.ClockLow, seen.ClockMedian, seen.ClockHigh = clocks[0], clocks[len(clocks)/2], clocks[len(clocks)-1]
	seen.Reasons = reasons.String()
	disturbed := func(state State) bool {
		return state.Reasons.Throttled() || float64(state.SMClock) < lowClock*float64(seen.ClockMedian)
	}
	keep = make([]bool, len(states)-1)
	for i := range keep {
		if keep[i] = !disturbed(states[i]) && !disturbed(states[i+1]); !keep[i] {
			seen.Discarded++
		}
	}
	return keep, seen
}
