package simulated

import (
	"fmt"

	"pawl/gate"
	"pawl/internal/stats"
)

// Row counts what came out on one kind of machine, measured in one way.
type Row struct {
	Fault  string `json:"fault"`
	Method string `json:"method"`
	// Equal counts the verdicts on two equal sides, Slowed those on a candidate with the real slowdown.
	Equal  map[gate.Verdict]int `json:"equal"`
	Slowed map[gate.Verdict]int `json:"slowed"`
	// Together holds what only a comparison in rounds answers.
	Together Together `json:"together"`
}

// Together counts what only a comparison in rounds answers.
type Together struct {
	// Eroded counts the verdicts on a candidate that is the baseline, where the
	// best accepted entry was faster by the real slowdown.
	Eroded map[gate.Verdict]int `json:"eroded"`
	// Warned is how often equal sides got a warning about their slowest calls.
	Warned Rate `json:"warned"`
	// Tails is how often a candidate of whose calls 40 % take twice as long was
	// warned of or failed, where samples allowed a warning.
	Tails Rate `json:"tails"`
	// Seen is how often another run on the same machine found the smallest
	// regression that a comparison of equal sides had printed.
	Seen Rate `json:"seen"`
	// Covered is how often the printed 95 % interval contains the true change, of equal sides and
	// of those with the real slowdown, whenever the comparison ended.
	Covered Rate `json:"covered"`
	// Smallest are the printed figures, as shares.
	Smallest []float64 `json:"smallest"`
}

// FalseAlarms is how often equal sides were called different enough to act on.
func (r Row) FalseAlarms() Rate { return RateOf(r.Equal, gate.Regression, gate.Improvement) }

// TooMany reports whether false alarms or false warnings are more than a share.
func (r Row) TooMany(most float64) bool {
	return r.FalseAlarms().exceeds(most) || r.Together.Warned.exceeds(most)
}

// MedianSmallest is the median of the printed figures; false where there is none.
func (t Together) MedianSmallest() (share float64, printed bool) {
	if len(t.Smallest) == 0 {
		return 0, false
	}
	return stats.Median(t.Smallest), true
}

// Rate is how often something happened.
type Rate struct {
	Times int `json:"times"`
	Of    int `json:"of"`
}

func (r *Rate) add(happened bool) {
	r.Of++
	if happened {
		r.Times++
	}
}

// cover counts whether the interval of a comparison contains the true change.
func (r *Rate) cover(c gate.Comparison, change float64) {
	if c.Evidence != nil {
		r.add(!c.Evidence.Interval.Bounded() || c.Evidence.Interval.Contains(change))
	}
}

func (r Rate) exceeds(most float64) bool { return float64(r.Times) > most*float64(r.Of) }

// String writes the rate and its 95 % interval, such as "0.5 % (0.1–2.8)".
func (r Rate) String() string {
	if r.Of == 0 {
		return "~"
	}
	i := stats.Proportion(r.Times, r.Of, 0.95)
	return fmt.Sprintf("%.1f %% (%.1f–%.1f)", 100*float64(r.Times)/float64(r.Of), 100*i.Low, 100*i.High)
}

// RateOf is how often one of the verdicts came out.
func RateOf(counts map[gate.Verdict]int, verdicts ...gate.Verdict) Rate {
	var r Rate
	for _, n := range counts {
		r.Of += n
	}
	for _, v := range verdicts {
		r.Times += counts[v]
	}
	return r
}
