package profile

import (
	"cmp"
	"fmt"
	"slices"

	"pawl/internal/collect"
)

// Advice is a rule that applies to a launch.
type Advice struct {
	Rule
	// Seen is what the rule has seen, in words.
	Seen string `json:"seen"`
	// Lost is the share of the time that would be saved at most; nil where nobody knows.
	Lost *float64 `json:"lost,omitempty"`
}

// Bound is how many times as fast the launch would be at most; 0 where that is unknown.
func (a Advice) Bound() float64 {
	if a.Lost == nil {
		return 0
	}
	return 1 / max(1-*a.Lost, 0.01)
}

// Gain says the bound in words.
func (a Advice) Gain() string {
	if a.Lost == nil {
		return "by how much is not known without a profiler"
	}
	return fmt.Sprintf("at most %.3g times as fast: %s", a.Bound(), a.Reason)
}

// unknownRank is where a loss of unknown size stands among the others.
const unknownRank = 0.25

// Advise returns the advice for a launch: causes before symptoms, and what could gain most first among them. A cause
// that explains little of the largest loss stands where its gain puts it.
func Advise(f Facts) []Advice {
	var all []Advice
	for _, rule := range slices.Concat(Rules, stallRules()) {
		lost, seen, ok := rule.apply(f)
		if !ok || lost >= 0 && lost < applies {
			continue
		}
		a := Advice{Rule: rule, Seen: seen}
		if lost >= 0 {
			a.Lost = &lost
		}
		all = append(all, a)
	}
	slices.SortStableFunc(all, func(a, b Advice) int { return cmp.Compare(b.rank(), a.rank()) })
	cause := func(a Advice) bool { return !a.symptom && a.rank() >= explains*all[0].rank() }
	return append(collect.Where(all, cause), collect.Where(all, func(a Advice) bool { return !cause(a) })...)
}

func (a Advice) rank() float64 {
	if a.Lost == nil {
		return unknownRank
	}
	return *a.Lost
}
