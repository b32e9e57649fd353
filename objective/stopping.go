package objective

import (
	"cmp"
	"time"

	"pawl/internal/stats"
)

// Stop says why a benchmark took no more samples.
type Stop string

// The reasons to stop sampling.
const (
	// Precise: the interval of the median is narrow enough.
	Precise Stop = "precise"
	// Hopeless: even the best sample is far behind the incumbent.
	Hopeless Stop = "hopeless"
	// Ceiling: the largest number of samples was reached before precision.
	Ceiling Stop = "sample limit"
	// OutOfTime: the time for one benchmark was used up before precision.
	OutOfTime Stop = "time limit"
)

// Stopping decides when a benchmark has enough samples. It looks at the
// samples only, so that it can be tested on streams of any kind.
type Stopping struct {
	// Floor is the number of samples before any decision. Zero means 5.
	Floor int
	// Most is the largest number of samples. Zero means 50.
	Most int
	// Width is the half width of the median's interval, relative to the
	// median, that counts as precise. Zero means 0.01.
	Width float64
	// Time is how long one benchmark may take. Zero means 500 ms.
	Time time.Duration
	// Margin is how far behind the incumbent the best sample must be for a point
	// to be hopeless. Zero means 1.25, 25 % slower.
	Margin float64
}

// patience is how many times as long as it may a benchmark takes before it ends with
// fewer samples than a decision needs.
const patience = 4

func (s Stopping) withDefaults() Stopping {
	return Stopping{
		Floor: cmp.Or(s.Floor, 5), Most: cmp.Or(s.Most, 50), Width: cmp.Or(s.Width, 0.01),
		Time: cmp.Or(s.Time, 500*time.Millisecond), Margin: cmp.Or(s.Margin, 1.25),
	}
}

// Decide returns why to stop, or the empty Stop to go on. Incumbent is the time to
// beat in milliseconds; 0 means that there is none yet.
func (s Stopping) Decide(samples []float64, incumbent float64, spent time.Duration) Stop {
	s = s.withDefaults()
	switch {
	case len(samples) < s.Floor && len(samples) > 0 && spent >= patience*s.Time:
		return OutOfTime // those that are missing were thrown away, and so may be the next
	case len(samples) < s.Floor:
		return ""
	case incumbent > 0 && stats.Quantile(samples, 0) > incumbent*s.Margin:
		return Hopeless
	case relativeWidth(samples) <= s.Width:
		return Precise
	case len(samples) >= s.Most:
		return Ceiling
	case spent >= s.Time:
		return OutOfTime
	}
	return ""
}

func relativeWidth(samples []float64) float64 {
	// A decision to go on needs no 10,000 resamples.
	interval := stats.Bootstrap{Resamples: 1000}.Median(samples)
	return interval.RelativeWidth(stats.Median(samples))
}
