package worker

import (
	"cmp"
	"slices"
	"strings"
)

// Conditions is the state of a device while samples were taken. Clocks are in
// MHz, the temperature in degrees Celsius, the power in watts.
type Conditions struct {
	// Device names the device that was measured.
	Device      string  `json:"device,omitempty"`
	ClockLow    int     `json:"clock_low,omitempty"`
	ClockMedian int     `json:"clock_median,omitempty"`
	ClockHigh   int     `json:"clock_high,omitempty"`
	Temperature int     `json:"temperature,omitempty"`
	Power       float64 `json:"power,omitempty"`
	// Discarded is the number of samples that were taken while the clock was
	// throttled and thrown away; Reasons says what throttled it.
	Discarded int    `json:"discarded,omitempty"`
	Reasons   string `json:"reasons,omitempty"`
	// Strangers are other people's processes that were on the device, in words.
	Strangers []string `json:"strangers,omitempty"`
	// Disturbed says that one of them computed meanwhile, or that nobody knows
	// whether it did.
	Disturbed bool `json:"disturbed,omitempty"`
}

// Join adds what was seen later.
func (c *Conditions) Join(later *Conditions) *Conditions {
	switch {
	case c == nil:
		return later
	case later == nil:
		return c
	}
	joined := *c
	joined.ClockLow = min(c.ClockLow, later.ClockLow)
	joined.ClockMedian = (c.ClockMedian + later.ClockMedian) / 2
	joined.ClockHigh = max(c.ClockHigh, later.ClockHigh)
	joined.Temperature = max(c.Temperature, later.Temperature)
	joined.Power = max(c.Power, later.Power)
	joined.Discarded += later.Discarded
	joined.Reasons = cmp.Or(c.Reasons, later.Reasons)
	joined.Strangers = slices.Clone(c.Strangers)
	for _, stranger := range later.Strangers {
		if !slices.ContainsFunc(joined.Strangers, func(known string) bool { return sameStranger(known, stranger) }) {
			joined.Strangers = append(joined.Strangers, stranger)
		}
	}
	joined.Disturbed = c.Disturbed || later.Disturbed
	return &joined
}

// sameStranger compares what comes before the figures, which change.
func sameStranger(a, b string) bool {
	a, _, _ = strings.Cut(a, " with ")
	b, _, _ = strings.Cut(b, " with ")
	return a == b
}
