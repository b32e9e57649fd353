package worker

import (
	"cmp"
	"fmt"
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
	// Measurements is how many were joined; 0 means one.
	Measurements int `json:"measurements,omitempty"`
	// Discarded is the number of samples that were taken while the clock was
	// throttled and thrown away; Reasons says what throttled it.
	Discarded int    `json:"discarded,omitempty"`
	Reasons   string `json:"reasons,omitempty"`
	// OtherProcesses are other people's processes that were on the device, in words.
	OtherProcesses []string `json:"other_processes,omitempty"`
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
	n, m := max(1, c.Measurements), max(1, later.Measurements)
	joined.ClockMedian = (n*c.ClockMedian + m*later.ClockMedian) / (n + m)
	joined.Measurements = n + m
	joined.ClockHigh = max(c.ClockHigh, later.ClockHigh)
	joined.Temperature = max(c.Temperature, later.Temperature)
	joined.Power = max(c.Power, later.Power)
	joined.Discarded += later.Discarded
	joined.Reasons = cmp.Or(c.Reasons, later.Reasons)
	joined.OtherProcesses = slices.Clone(c.OtherProcesses)
	for _, stranger := range later.OtherProcesses {
		if !slices.ContainsFunc(joined.OtherProcesses, func(known string) bool { return sameProcess(known, stranger) }) {
			joined.OtherProcesses = append(joined.OtherProcesses, stranger)
		}
	}
	joined.Disturbed = c.Disturbed || later.Disturbed
	return &joined
}

// HotTemperature is where a reader is warned, in degrees Celsius.
const HotTemperature = 80

// Warnings says what may have made the times of something, such as the winner, other than
// they would be on a cool device of its own. Each is a clause without a full stop.
func (c *Conditions) Warnings(what string) (found []string) {
	if c == nil {
		return nil
	}
	if len(c.OtherProcesses) > 0 {
		found = append(found, fmt.Sprintf("while the %s was measured, %s", what, c.Others()))
	}
	if c.Temperature > HotTemperature {
		found = append(found,
			fmt.Sprintf("the device reached %d °C while the %s was measured; above %d °C a device may throttle its clock",
				c.Temperature, what, HotTemperature))
	}
	if c.Discarded > 0 {
		found = append(found,
			fmt.Sprintf("%d samples of the %s were discarded, because %s (%s)", c.Discarded, what, WhyDiscarded,
				cmp.Or(c.Reasons, "no reason given")))
	}
	return found
}

// WhyDiscarded says which samples a device discards: those that lowClock in
// objective/cuda/monitor is the limit for.
const WhyDiscarded = "the clock was throttled or more than 5 % low"

// Others says who else was on the device.
func (c *Conditions) Others() string {
	if !c.Disturbed {
		return "others were on the device and did not compute: " + strings.Join(c.OtherProcesses, "; ")
	}
	return "others computed on the device meanwhile, so that these times are not the kernel's alone: " +
		strings.Join(c.OtherProcesses, "; ")
}

// String is the state of the device in a few words.
func (c *Conditions) String() string {
	text := fmt.Sprintf("clock %d to %d MHz, at most %d °C and %.0f W", c.ClockLow, c.ClockHigh, c.Temperature, c.Power)
	if c.Discarded > 0 {
		text += fmt.Sprintf("; %d samples discarded (%s)", c.Discarded, c.Reasons)
	}
	return text
}

// sameProcess compares what comes before the figures, which change.
func sameProcess(a, b string) bool {
	a, _, _ = strings.Cut(a, " with ")
	b, _, _ = strings.Cut(b, " with ")
	return a == b
}
