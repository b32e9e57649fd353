package report

import (
	"cmp"
	"fmt"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/stats"
	"pawl/search/confirm"
	"pawl/search/trial"
	"pawl/space"
)

// Step is one step on the way from the default to the winner.
type Step struct {
	// Changes are the parameters that changed at this step; empty for the
	// default itself.
	Changes      []Change    `json:"changes"`
	Point        space.Point `json:"point"`
	Milliseconds float64     `json:"milliseconds"`
	// Speedup of this step over the one before, and over the default.
	Speedup  float64        `json:"speedup"`
	Interval stats.Interval `json:"interval"`
	Total    float64        `json:"total"`
}

// name says what changed, or that nothing did.
func (s Step) name() string {
	texts := collect.Each(s.Changes, func(c Change) string { return fmt.Sprintf("%s %s → %s", c.Name, c.From, c.To) })
	return cmp.Or(strings.Join(texts, ", "), "default")
}

// Change is one parameter's new value.
type Change struct {
	Name string      `json:"name"`
	From space.Value `json:"from"`
	To   space.Value `json:"to"`
}

// ablation orders the measured steps by their distance from the default.
func ablation(s *space.Space, rounds []trial.Round, winner space.Point) []Step {
	contenders := confirm.Contenders(rounds, trial.Ablation)
	if len(contenders) < 2 {
		return nil
	}
	ordered := make([]*confirm.Contender, 0, len(contenders))
	// Along the path ever fewer parameters differ from the winner.
	for distance := len(s.Params()); distance >= 0; distance-- {
		for i := range contenders {
			if len(changes(contenders[i].Point, winner)) == distance {
				ordered = append(ordered, &contenders[i])
			}
		}
	}
	steps := []Step{{
		Point:        ordered[0].Point,
		Milliseconds: ordered[0].Milliseconds(),
		Speedup:      1,
		Interval:     stats.Interval{Low: 1, High: 1},
		Total:        1,
	}}
	for i := 1; i < len(ordered); i++ {
		step := Step{
			Point:        ordered[i].Point,
			Milliseconds: ordered[i].Milliseconds(),
			Changes:      changes(ordered[i-1].Point, ordered[i].Point),
		}
		step.Speedup, step.Interval = compare(*ordered[i-1], *ordered[i])
		step.Total = stats.Speedup(ordered[0].Rounds, ordered[i].Rounds)
		steps = append(steps, step)
	}
	return steps
}

// changes returns the parameters in which two points of one space differ.
func changes(from, to space.Point) []Change {
	var changed []Change
	for _, a := range from.Assignments() {
		if value, ok := to.Get(a.Name); ok && value != a.Value {
			changed = append(changed, Change{a.Name, a.Value, value})
		}
	}
	return changed
}
