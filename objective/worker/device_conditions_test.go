package worker

import "testing"

// Three measurements at 1,900, 1,900 and 1,600 MHz are 1,800 on average, in whatever order
// they are joined.
func TestConditionsJoin(t *testing.T) {
	at := func(mhz int) *Conditions {
		return &Conditions{ClockLow: mhz, ClockMedian: mhz, ClockHigh: mhz, Temperature: mhz / 100}
	}
	var none *Conditions
	for _, joined := range []*Conditions{
		none.Join(at(1900)).Join(at(1900)).Join(at(1600)),
		at(1600).Join(none).Join(at(1900).Join(at(1900))),
	} {
		if joined.ClockMedian != 1800 || joined.ClockLow != 1600 || joined.ClockHigh != 1900 || joined.Temperature != 19 ||
			joined.Measurements != 3 {
			t.Errorf("%+v", joined)
		}
	}
}
