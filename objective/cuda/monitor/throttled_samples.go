package monitor

import "slices"

// lowClock is the share of the run's median clock below which a sample is not
// comparable with the others. Clocks move in steps of about 1 %, so less would
// discard ordinary boosting; a sample 5 % slower would move a verdict. What people read
// about it is worker.WhyDiscarded.
const lowClock = 0.95

// Summary is what the GPU did during a run.
type Summary struct {
	Samples     int     `json:"samples"`      // all that were taken
	Throttled   int     `json:"throttled"`    // discarded: throttling at either end
	LowClock    int     `json:"low_clock"`    // discarded: only the clock was low
	ClockLow    int     `json:"clock_low"`    // MHz
	ClockMedian int     `json:"clock_median"` // MHz
	ClockHigh   int     `json:"clock_high"`   // MHz
	Temperature int     `json:"temperature"`  // °C, the highest
	Power       float64 `json:"power"`        // W, the highest
	Reasons     Reasons `json:"reasons"`      // all that were seen
}

// Judge says which samples to keep, from the n+1 states around n samples: one
// before the first and one after each. A sample is discarded when throttling
// was active at either end, or when the SM clock at either end was more than
// 5 % below the median of the run. Fewer than two states surround no sample.
func Judge(states []State) (keep []bool, summary Summary) {
	summary = summarise(states)
	keep = make([]bool, summary.Samples)
	for i := range keep {
		before, after := states[i], states[i+1]
		switch {
		case before.Reasons.Throttled() || after.Reasons.Throttled():
			summary.Throttled++
		case summary.low(before) || summary.low(after):
			summary.LowClock++
		default:
			keep[i] = true
		}
	}
	return keep, summary
}

func summarise(states []State) Summary {
	summary := Summary{Samples: max(0, len(states)-1)}
	if len(states) == 0 {
		return summary
	}
	clocks := make([]int, len(states))
	for i, state := range states {
		clocks[i] = state.SMClock
		summary.Temperature = max(summary.Temperature, state.Temperature)
		summary.Power = max(summary.Power, state.Power)
		summary.Reasons |= state.Reasons
	}
	slices.Sort(clocks)
	summary.ClockLow = clocks[0]
	summary.ClockMedian = clocks[len(clocks)/2]
	summary.ClockHigh = clocks[len(clocks)-1]
	return summary
}

func (s Summary) low(state State) bool {
	return float64(state.SMClock) < lowClock*float64(s.ClockMedian)
}
