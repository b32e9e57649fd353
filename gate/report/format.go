package report

import (
	"fmt"

	"pawl/gate"
	"pawl/internal/page"
)

// Change writes a change with its sign.
func Change(r Result) string {
	if r.Evidence == nil {
		return page.Unknown
	}
	return page.Change(r.Evidence.Change)
}

// Interval writes the interval of a change.
func Interval(r Result) string {
	if r.Evidence == nil {
		return page.Unknown
	}
	return page.ChangeInterval(r.Evidence.Interval)
}

// TailChange writes the change of the slowest calls, p95, and marks what is beyond
// the limit.
func TailChange(r Result) string {
	for _, t := range r.Tails {
		switch {
		case t.Quantile != 0.95:
		case t.Slower:
			return page.Change(t.Change) + " !"
		default:
			return page.Change(t.Change)
		}
	}
	return page.Unknown
}

// Smallest writes the smallest regression that would have been seen; it is empty
// where nothing was measured together.
func Smallest(r Result) string {
	switch {
	case r.Method != gate.Interleaved || r.Evidence == nil:
		return ""
	case r.SmallestRegression == 0:
		return page.Unknown
	}
	return page.Percent(r.SmallestRegression)
}

func delta(r Result) string {
	if r.Evidence == nil {
		return page.Unknown
	}
	return fmt.Sprintf("%+.2f", r.Evidence.Delta)
}

func chance(r Result) string {
	if r.Evidence == nil {
		return page.Unknown
	}
	return probability(r.Evidence.P)
}

func probability(p float64) string { return fmt.Sprintf("%.2g", p) }
