package check

import (
	"cmp"
	"math"
	"slices"

	"pawl/internal/collect"
	"pawl/kernels/arguments"
	"pawl/objective/worker"
)

// Evidence is what a point's results were held against the reference on, and how
// close they came to what is allowed. Each case was run twice, on differently
// poisoned outputs.
type Evidence struct {
	// Tolerance is the manifest's.
	Tolerance arguments.Tolerance `json:"tolerance"`
	// Cases are those that passed, each once.
	Cases []Case `json:"cases"`
	// Worst is the largest error of any element as a share of what was allowed
	// there, and At the case; 0 and nil where every result was exact.
	Worst float64 `json:"worst"`
	At    *Case   `json:"at,omitempty"`
	// Unchecked says which sizes never varied; empty where all of them did.
	Unchecked string `json:"unchecked,omitempty"`
	// Unscaled says that no magnitudes were raised; empty where some were.
	Unscaled string `json:"unscaled,omitempty"`
	// Noted is what was noticed that is no failure; empty for nothing.
	Noted string `json:"noted,omitempty"`
	// Program says that a program's own check has passed it: nothing was compared here.
	Program bool `json:"program,omitempty"`
}

// add notes that a case passed. A nil Evidence is not interested.
func (e *Evidence) add(c Case, worst float64) {
	if e == nil {
		return
	}
	if !slices.ContainsFunc(e.Cases, func(other Case) bool { return other.String() == c.String() }) {
		e.Cases = append(e.Cases, c)
	}
	if worst > e.Worst {
		e.Worst, e.At = worst, &c
	}
}

// Passed notes that a case passed of a program, which says so itself. A nil Evidence is not
// interested.
func (e *Evidence) Passed(c Case) {
	e.add(c, 0)
	if e != nil {
		e.Program = true
	}
}

// Join returns what both say, of one point. Either may be nil.
func (e *Evidence) Join(other *Evidence) *Evidence {
	if e == nil || other == nil {
		return cmp.Or(e, other)
	}
	joined := new(*e)
	joined.Cases = slices.Clone(e.Cases)
	joined.Unchecked, joined.Unscaled = cmp.Or(e.Unchecked, other.Unchecked), cmp.Or(e.Unscaled, other.Unscaled)
	joined.Noted = cmp.Or(other.Noted, e.Noted) // the later one
	joined.Program = e.Program || other.Program
	for _, c := range other.Cases {
		joined.add(c, 0)
	}
	if other.At != nil {
		joined.add(*other.At, other.Worst)
	}
	return joined
}

// Shapes, Families, Layouts and Seeds return what the cases differ in, each value
// once, in the order of the cases.
func (e *Evidence) Shapes() []string { return each(e, func(c Case) string { return c.Dims.String() }) }

// Families returns the families of inputs.
func (e *Evidence) Families() []string { return each(e, Case.family) }

// Layouts returns where buffers lay.
func (e *Evidence) Layouts() []worker.Layout { return each(e, Case.layout) }

// Seeds returns the seeds of inputs.
func (e *Evidence) Seeds() []uint64 { return each(e, func(c Case) uint64 { return c.Seed }) }

func each[T comparable](e *Evidence, of func(Case) T) []T {
	return collect.Distinct(collect.Each(e.Cases, of))
}

// errors returns the largest error of an output that has passed, as a share of what is allowed, and the mean, with its
// sign.
func (a Answer) errors(output int, got []byte) (largest, mean float64) {
	element := a.kernel.Arguments.Outputs()[output].Element
	for x := range relativeErrors(element, got, a.want[output], a.bounds[output]) {
		largest, mean = max(largest, math.Abs(x)), mean+x
	}
	// It has passed; what is more than 1 is the rounding of this quotient.
	return min(largest, 1), mean * float64(element.Size) / float64(max(len(got), 1))
}
