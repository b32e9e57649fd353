package rivals

import (
	"slices"
	"time"

	"pawl/internal/collect"
	"pawl/internal/stats"
	"pawl/objective"
	"pawl/objective/experiment"
)

// Side is one of those that were measured. Times are milliseconds.
type Side struct {
	Name string `json:"name"`
	// Ours says that it is a point of the kernel, which Point names.
	Ours  bool   `json:"ours,omitempty"`
	Point string `json:"point,omitempty"`
	// Limit says that it computes nothing, and shows what can be reached at best.
	Limit bool `json:"limit,omitempty"`
	// Missing says why there are no times.
	Missing      string         `json:"missing,omitempty"`
	Milliseconds float64        `json:"milliseconds,omitempty"`
	Interval     stats.Interval `json:"interval,omitzero"`
	// Speedup is how many times as fast as this side our best point is, nil for that point
	// itself and where there are no times.
	Speedup *experiment.Lead `json:"speedup,omitempty"`
	Rounds  [][]float64      `json:"rounds,omitempty"`
}

// Verdict says who wins against our best, where the whole interval agrees.
func (s Side) Verdict() string {
	switch {
	case s.Missing != "":
		return "no times: " + s.Missing
	case s.Limit:
		return "a limit: computes nothing"
	case s.Speedup == nil:
		return ""
	case !s.Speedup.Interval.Bounded():
		return "too few rounds to say"
	case s.Speedup.Interval.Low > 1 && s.Ours:
		return "slower than our best"
	case s.Speedup.Interval.Low > 1:
		return "ours is faster"
	case s.Speedup.Interval.High < 1:
		return "it is faster"
	}
	return "no difference shown"
}

// Result is a kernel beside its rivals on one workload.
type Result struct {
	Kernel      string                `json:"kernel"`
	Workload    string                `json:"workload"`
	Environment objective.Environment `json:"environment"`
	Measured    time.Time             `json:"measured"`
	// Sides are ours, and then the rivals in the order of the manifest.
	Sides []Side `json:"sides"`
	// Best is the index of the fastest of ours.
	Best int `json:"best"`
}

// Beaten reports whether a rival is shown to be faster than our best.
func (r *Result) Beaten() bool {
	return slices.ContainsFunc(r.Sides, func(s Side) bool {
		return !s.Ours && !s.Limit && s.Speedup != nil && s.Speedup.Interval.Bounded() && s.Speedup.Interval.High < 1
	})
}

// Compared is the number of rivals that have times.
func (r *Result) Compared() int {
	return len(collect.Where(r.Sides, func(s Side) bool { return !s.Ours && !s.Limit && s.Missing == "" }))
}

// summarise computes a side's time over its rounds.
func (s *Side) summarise() {
	if len(s.Rounds) == 0 {
		return
	}
	medians := collect.Each(s.Rounds, stats.Median)
	s.Milliseconds, s.Interval = stats.Median(medians), stats.MedianInterval(medians, 0.95)
}

// compare holds every side against our best. Rounds are paired: sides of one round were
// measured close together.
func (r *Result) compare() {
	r.Best = -1
	var measured, ours []int // of the sides, and which of those measured are ours
	var times [][][]float64
	for i, s := range r.Sides {
		if len(s.Rounds) == 0 {
			continue
		}
		if s.Ours {
			ours = append(ours, len(measured))
		}
		measured, times = append(measured, i), append(times, s.Rounds)
	}
	if len(ours) == 0 {
		return
	}
	ranking := experiment.Rank(times, ours...)
	r.Best = measured[ranking.Fastest]
	for i, side := range measured {
		if side != r.Best {
			r.Sides[side].Speedup = &ranking.Leads[i]
		}
	}
}
