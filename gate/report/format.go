package report

import (
	"fmt"

	"pawl/gate"
)

// unknown stands where there is no number.
const unknown = "~"

// Milliseconds writes a time with the unit that suits it.
func Milliseconds(milliseconds float64) string {
	switch {
	case milliseconds == 0:
		return unknown
	case milliseconds >= 1000:
		return fmt.Sprintf("%.4g s", milliseconds/1000)
	case milliseconds >= 1:
		return fmt.Sprintf("%.4g ms", milliseconds)
	}
	return fmt.Sprintf("%.4g µs", milliseconds*1000)
}

// Change writes a change with its sign.
func Change(r Result) string {
	if r.Evidence == nil {
		return unknown
	}
	return signed(r.Evidence.Change)
}

// Interval writes the interval of a change.
func Interval(r Result) string {
	if r.Evidence == nil {
		return unknown
	}
	return signed(r.Evidence.Interval.Low) + " to " + signed(r.Evidence.Interval.High)
}

// TailChange writes the change of the slowest calls, p95, and marks what is beyond
// the limit.
func TailChange(r Result) string {
	for _, t := range r.Tails {
		switch {
		case t.Quantile != 0.95:
		case t.Slower:
			return signed(t.Change) + " !"
		default:
			return signed(t.Change)
		}
	}
	return unknown
}

// Smallest writes the smallest regression that would have been seen; it is empty
// where nothing was measured together.
func Smallest(r Result) string {
	switch {
	case r.Method != gate.Interleaved || r.Evidence == nil:
		return ""
	case r.SmallestRegression == 0:
		return unknown
	}
	return percent(r.SmallestRegression)
}

func delta(r Result) string {
	if r.Evidence == nil {
		return unknown
	}
	return fmt.Sprintf("%+.2f", r.Evidence.Delta)
}

func chance(r Result) string {
	if r.Evidence == nil {
		return unknown
	}
	return probability(r.Evidence.P)
}

func probability(p float64) string { return fmt.Sprintf("%.2g", p) }

func signed(share float64) string { return fmt.Sprintf("%+.1f %%", 100*share) }

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
