package stats

import (
	"encoding/json"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// An Interval is a closed range of values, Low <= High.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Unbounded is the interval of a positive figure of which too little is known: see [MinimumSamples].
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

// Disjoint reports whether the intervals have no point in common. Touching ends are a common point.
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
// made of the samples is wider than that. With fewer it is unbounded.
func MinimumSamples(level float64) int {
	requireLevel(level)
	return int(math.Ceil(1 - math.Log2(1-level)))
}

// MedianInterval returns the interval of the median of independent positive values at a
// level: from the k-th lowest to the k-th highest, with the largest k for which the median is
// beyond them in no more than the rest of the cases. How many of n values are below the
// median is a matter of n coins, whatever their distribution, so that it holds for six values as for
// sixty (Thompson 1936). A bootstrap of so few is too narrow: for 6 to 20 processes its
// 95 % covered 87 to 94 %. It is unbounded below [MinimumSamples].
func MedianInterval(values []float64, level float64) Interval {
	requireLevel(level)
	requirePositive("MedianInterval", values)
	ascending := sorted("MedianInterval", values)
	k := medianRank(len(ascending), level)
	if k == 0 {
		return Unbounded()
	}
	return Interval{Low: ascending[k-1], High: ascending[len(ascending)-k]}
}

// medianRank is the largest k for which fewer than k of n coins come up heads in at most half of
// the rest of the cases, by the terms of the binomial distribution or, where these are too
// small for a number, by its normal approximation.
func medianRank(n int, level float64) int {
	const most = 1000
	if n > most {
		z := distuv.UnitNormal.Quantile((1 + level) / 2)
		return int(float64(n)/2 - z*math.Sqrt(float64(n))/2)
	}
	k, term, sum := 0, math.Ldexp(1, -n), math.Ldexp(1, -n)
	for ; k < n/2 && 2*sum <= 1-level; k++ {
		term *= float64(n-k) / float64(k+1)
		sum += term
	}
	return k
}

// FewestForInterval is how many samples, rounds or processes the 95 % intervals of every report take at least.
var FewestForInterval = MinimumSamples(0.95)

func requireLevel(level float64) {
	if !(level > 0 && level < 1) {
		panic(fmt.Sprintf("stats: confidence level %v is outside (0, 1)", level))
	}
}
