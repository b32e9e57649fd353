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
	Hopeless Stop = "far behind the best so far"
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
	// Time is how long one benchmark may take. Zero means 500 ms.
	Time time.Duration
}

const (
	// preciseWidth is the half width of the median's interval, relative to the median, that counts as precise.
	preciseWidth = 0.01
	// hopelessMargin is how far behind the incumbent the best sample must be for a point to be hopeless.
	hopelessMargin = 1.25
)

// FirstLook is how far behind the incumbent each of the first launches must be for a point to be
// hopeless whatever their number, unless Floor asks for more samples than usual: whoever does
// wants them of every point.
const FirstLook = 1.5

// patience is how many times as long as it may a benchmark takes before it ends with
// fewer samples than a decision needs.
const patience = 4

// UsualFloor is the number of samples before a decision where nobody asks for another.
const UsualFloor = 5

// brief says that a look may be short: nobody has asked for more samples than usual.
func (s Stopping) brief() bool { return s.Floor <= UsualFloor }

// limit is the time beyond which a point is hopeless at first look, 0 for none.
func (s Stopping) limit(incumbent float64) float64 {
	if !s.brief() {
		return 0
	}
	return incumbent * FirstLook
}

// Decide returns why to stop, or the empty Stop to go on. Incumbent is the time to
// beat in milliseconds; 0 means that there is none yet.
func (s Stopping) Decide(samples []float64, incumbent float64, spent time.Duration) Stop {
	floor, allowed := cmp.Or(s.Floor, UsualFloor), cmp.Or(s.Time, 500*time.Millisecond)
	behind := func(margin float64) bool {
		return incumbent > 0 && len(samples) > 0 && stats.Quantile(samples, 0) > incumbent*margin
	}
	switch {
	case s.brief() && behind(FirstLook):
		return Hopeless
	case len(samples) < floor && len(samples) > 0 && spent >= patience*allowed:
		return OutOfTime // those that are missing were thrown away, and so may be the next
	case len(samples) < floor:
		return ""
	case behind(hopelessMargin):
		return Hopeless
	// A decision to go on needs no 10,000 resamples.
	case stats.Bootstrap(1000).Median(samples).RelativeWidth(stats.Median(samples)) <= preciseWidth:
		return Precise
	case len(samples) >= cmp.Or(s.Most, 50):
		return Ceiling
	case spent >= allowed:
		return OutOfTime
	}
	return ""
}
