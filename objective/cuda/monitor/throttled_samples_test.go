package monitor

import (
	"reflect"
	"slices"
	"testing"

	"pawl/objective/worker"
)

// at returns a state with a clock and reasons.
func at(clock int, reasons Reasons) State {
	return State{SMClock: clock, Temperature: 60, Power: 300, Reasons: reasons}
}

func TestJudge(t *testing.T) {
	for name, test := range map[string]struct {
		states    []State
		keep      []bool
		discarded int
	}{
		"nothing":   {nil, []bool{}, 0},
		"one state": {[]State{at(1980, SoftwarePowerCap)}, []bool{}, 0},
		"steady":    {[]State{at(1980, 0), at(1965, 0), at(1980, 0)}, []bool{true, true}, 0},
		"no throttle": {[]State{at(1980, Idle), at(1980, ApplicationsClock|SyncBoost), at(1980, DisplayClock|1<<40)},
			[]bool{true, true}, 0},
		// One throttled state spoils the samples on both its sides.
		"throttled": {[]State{at(1980, 0), at(1980, 0), at(1980, SoftwareThermal), at(1980, 0), at(1980, 0)},
			[]bool{true, false, false, true}, 2},
		"always": {[]State{at(1500, SoftwarePowerCap), at(1500, SoftwarePowerCap), at(1500, HardwareSlowdown)},
			[]bool{true, false}, 1},
		// The median is 2000; 1900 is exactly 5 % below and stays, 1899 goes.
		"at the edge": {[]State{at(1900, 0), at(2000, 0), at(2000, 0), at(2000, 0), at(1899, 0)},
			[]bool{true, true, true, false}, 1},
		"warming up": {[]State{at(345, Idle), at(1980, 0), at(1980, 0), at(1980, 0)}, []bool{false, true, true}, 1},
		// Throttled and low counts once, as throttled.
		"both": {[]State{at(1000, HardwarePowerBrake), at(1980, 0), at(1980, 0)}, []bool{false, true}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			keep, seen := Judge(test.states)
			if !slices.Equal(keep, test.keep) || seen.Discarded != test.discarded {
				t.Errorf("got %v, %+v", keep, seen)
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
	want := worker.Conditions{
		Discarded:   2,
		ClockLow:    1800,
		ClockMedian: 1900,
		ClockHigh:   1980,
		Temperature: 83,
		Power:       690,
		Reasons:     "idle, software thermal slowdown",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}
