package report

import "fmt"

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
