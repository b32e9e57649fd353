package report

import (
	"cmp"
	"fmt"
	"slices"
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
	return cmp.Or(strings.Join(collect.Each(s.Changes, Change.String), ", "), "default")
}

// Change is one parameter's new value.
type Change struct {
	Name string      `json:"name"`
	From space.Value `json:"from"`
	To   space.Value `json:"to"`
}

// String is a change such as "BLOCK 16 → 64".
func (c Change) String() string { return fmt.Sprintf("%s %s → %s", c.Name, c.From, c.To) }

// ablation orders the measured steps by their distance from the default.
func ablation(rounds []trial.Round, winner space.Point) []Step {
	contenders := confirm.Contenders(rounds, trial.Ablation)
	if len(contenders) < 2 {
		return nil
	}
	// Along the path ever fewer parameters differ from the winner.
	slices.SortStableFunc(contenders, func(a, b confirm.Contender) int {
		return cmp.Compare(len(Changes(b.Point, winner)), len(Changes(a.Point, winner)))
	})
	var steps []Step
	for i, c := range contenders {
		before := contenders[max(i-1, 0)]
		step := Step{
			Point:        c.Point,
			Milliseconds: c.Milliseconds(),
			Changes:      Changes(before.Point, c.Point),
			Speedup:      1,
			Interval:     stats.Interval{Low: 1, High: 1},
			Total:        stats.Speedup(contenders[0].Rounds, c.Rounds),
		}
		if i > 0 {
			step.Speedup, step.Interval = compare(before, c)
		}
		steps = append(steps, step)
	}
	return steps
}

// Changes returns the parameters in which two points of one space differ.
func Changes(from, to space.Point) []Change {
	var changed []Change
	for _, a := range from.Assignments() {
		if value, ok := to.Get(a.Name); ok && value != a.Value {
			changed = append(changed, Change{a.Name, a.Value, value})
		}
	}
	return changed
}
