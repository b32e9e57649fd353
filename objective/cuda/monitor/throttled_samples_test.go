package monitor

import (
	"encoding/json"
	"slices"
	"testing"
)

// at returns a state with a clock and reasons.
func at(clock int, reasons Reasons) State {
	return State{SMClock: clock, Temperature: 60, Power: 300, Reasons: reasons}
}

func TestJudge(t *testing.T) {
	for name, test := range map[string]struct {
		states              []State
		keep                []bool
		throttled, lowClock int
	}{
		"nothing":   {nil, []bool{}, 0, 0},
		"one state": {[]State{at(1980, SoftwarePowerCap)}, []bool{}, 0, 0},
		"steady":    {[]State{at(1980, 0), at(1965, 0), at(1980, 0)}, []bool{true, true}, 0, 0},
		"no throttle": {[]State{at(1980, Idle), at(1980, ApplicationsClock|SyncBoost), at(1980, DisplayClock|1<<40)},
			[]bool{true, true}, 0, 0},
		// One throttled state spoils the samples on both its sides.
		"throttled": {[]State{at(1980, 0), at(1980, 0), at(1980, SoftwareThermal), at(1980, 0), at(1980, 0)},
			[]bool{true, false, false, true}, 2, 0},
		"always": {[]State{at(1500, SoftwarePowerCap), at(1500, SoftwarePowerCap), at(1500, HardwareSlowdown)},
			[]bool{true, false}, 1, 0},
		// The median is 2000; 1900 is exactly 5 % below and stays, 1899 goes.
		"at the edge": {[]State{at(1900, 0), at(2000, 0), at(2000, 0), at(2000, 0), at(1899, 0)},
			[]bool{true, true, true, false}, 0, 1},
		"warming up": {[]State{at(345, Idle), at(1980, 0), at(1980, 0), at(1980, 0)}, []bool{false, true, true}, 0, 1},
		// Throttled and low counts once, as throttled.
		"both": {[]State{at(1000, HardwarePowerBrake), at(1980, 0), at(1980, 0)}, []bool{false, true}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			keep, summary := Judge(test.states)
			if !slices.Equal(keep, test.keep) || summary.Throttled != test.throttled || summary.LowClock != test.lowClock {
				t.Errorf("got %v, %+v", keep, summary)
			}
			kept := 0
			for _, one := range keep {
				if one {
					kept++
				}
			}
			if counted := summary.Samples - summary.Throttled - summary.LowClock; summary.Samples != len(keep) ||
				counted != kept {
				t.Errorf("%d of %d kept, the summary says %d of %d", kept, len(keep), counted, summary.Samples)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	_, got := Judge([]State{
		{SMClock: 1900, Temperature: 70, Power: 400.5, Reasons: Idle},
		{SMClock: 1800, Temperature: 83, Power: 690, Reasons: SoftwareThermal},
		{SMClock: 1980, Temperature: 81, Power: 500},
	})
	want := Summary{
		Samples:     2,
		Throttled:   2,
		ClockLow:    1800,
		ClockMedian: 1900,
		ClockHigh:   1980,
		Temperature: 83,
		Power:       690,
		Reasons:     Idle | SoftwareThermal,
	}
	if got != want {
		t.Errorf("got %+v", got)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	const expected = `{"samples":2,"throttled":2,"low_clock":0,"clock_low":1800,"clock_median":1900,"clock_high":1980,"temperature":83,"power":690,"reasons":"idle, software thermal slowdown"}`
	if string(text) != expected {
		t.Errorf("got %s", text)
	}
	var back Summary
	if err := json.Unmarshal(text, &back); err != nil || back != want {
		t.Errorf("read back %+v, %v", back, err)
	}
}
