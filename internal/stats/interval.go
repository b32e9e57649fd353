package stats

import (
	"encoding/json"
	"fmt"
	"math"
)

// An Interval is a closed range of values, Low <= High.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Unbounded is the interval of a positive figure of which too little is known: see
// [MinimumSamples]. Print it as ±∞.
func Unbounded() Interval { return Interval{High: math.Inf(1)} }

// Bounded reports whether the interval says anything.
func (i Interval) Bounded() bool { return !math.IsInf(i.Low, 0) && !math.IsInf(i.High, 0) }

// MarshalJSON writes the ends of [Unbounded] as null: JSON has no infinity. Any
// other infinite end is a mistake, and an error.
func (i Interval) MarshalJSON() ([]byte, error) {
	if i == Unbounded() {
		return []byte(`{"low":null,"high":null}`), nil
	}
	type plain Interval
	return json.Marshal(plain(i))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (i *Interval) UnmarshalJSON(encoded []byte) error {
	var ends struct{ Low, High *float64 }
	if err := json.Unmarshal(encoded, &ends); err != nil {
		return err
	}
	*i = Unbounded()
	if ends.Low != nil && ends.High != nil {
		*i = Interval{*ends.Low, *ends.High}
	}
	return nil
}

// Contains reports whether x lies in the interval, its ends included.
func (i Interval) Contains(x float64) bool { return i.Low <= x && x <= i.High }

// Disjoint reports whether the intervals have no point in common. Touching ends
// are a common point.
func (i Interval) Disjoint(other Interval) bool {
	return i.High < other.Low || other.High < i.Low
}

// RelativeWidth returns half the width of the interval over center: the figure
// after the ± when the interval is printed as a share of its median. It panics on
// a center of zero.
func (i Interval) RelativeWidth(center float64) float64 {
	if center == 0 {
		panic("stats: RelativeWidth around zero")
	}
	return (i.High - i.Low) / 2 / math.Abs(center)
}

// MinimumSamples returns how many independent samples any interval of the median
// needs before it can reach the level: 6 at 0.95. Between the lowest and the
// highest of n samples the median lies with probability 1-2^(1-n), and no interval
// made of the samples is wider than that. With fewer, print the interval as ±∞.
func MinimumSamples(level float64) int {
	requireLevel(level)
	return int(math.Ceil(1 - math.Log2(1-level)))
}

// FewestForInterval is how many samples, rounds or processes the 95 % intervals of every
// report take at least.
var FewestForInterval = MinimumSamples(0.95)

func requireLevel(level float64) {
	if !(level > 0 && level < 1) {
		panic(fmt.Sprintf("stats: confidence level %v is outside (0, 1)", level))
	}
}
