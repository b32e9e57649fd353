package check

import (
	"cmp"
	"iter"
	"math"
	"slices"

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
	joined := &Evidence{
		Tolerance: e.Tolerance,
		Cases:     slices.Clone(e.Cases),
		Worst:     e.Worst,
		At:        e.At,
		Unchecked: cmp.Or(e.Unchecked, other.Unchecked),
		Unscaled:  cmp.Or(e.Unscaled, other.Unscaled),
		Noted:     cmp.Or(other.Noted, e.Noted), // the later one
		Program:   e.Program || other.Program,
	}
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
	var values []T
	for _, c := range e.Cases {
		if value := of(c); !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// share returns the largest error of outputs that have passed, as a share of what
// is allowed.
func (a Answer) share(got [][]byte) float64 {
	largest := 0.0
	for i, argument := range a.kernel.Arguments.Outputs() {
		for x := range relativeErrors(argument.Element, got[i], a.want[i], a.bounds[i]) {
			largest = max(largest, x)
		}
	}
	return min(largest, 1) // it has passed; what is more is the rounding of this quotient
}

// biases yields, by output, the mean error as a share of what is allowed, with its sign.
func (a Answer) biases(got [][]byte) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for i, argument := range a.kernel.Arguments.Outputs() {
			e, sum := argument.Element, 0.0
			for at := 0; e.Float && at < len(a.want[i]); at += e.Size {
				x, reference := e.Load(got[i][at:]), e.Load(a.want[i][at:])
				share := (x - reference) / (a.bounds[i].Absolute + a.bounds[i].Relative*math.Abs(reference))
				if math.Abs(share) <= 1 { // which an infinite reference's is not
					sum += share
				}
			}
			if !yield(argument.Name, sum/float64(max(len(a.want[i])/e.Size, 1))) {
				return
			}
		}
	}
}
