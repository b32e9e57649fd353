package check

import (
	"context"
	"iter"
	"math"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/objective/worker"
)

// Outputs hold the right answer to a case that a kernel has run on.
type Outputs struct {
	answer    Answer
	arguments []arguments.Binding
}

// Compare returns the first of other outputs that is not the right answer, or nil.
func (o *Outputs) Compare(other [][]byte) (*worker.Comparison, error) { return o.answer.Compare(other) }

// outputsOf loads and runs a kernel once and returns its outputs, nil if it
// died.
func outputsOf(ctx context.Context, s *worker.Session, load worker.Load) ([][]byte, error) {
	fault, err := s.Load(ctx, load)
	if fault != nil || err != nil {
		return nil, err
	}
	result, fault, err := s.Run(ctx)
	if fault != nil {
		return nil, err
	}
	return result.Outputs, err
}

// relativeErrors yields each element's error in units of what is allowed, with its sign: above 1 is
// wrong, and infinite what is no number.
func relativeErrors(e element.Type, got, want []byte, t arguments.Tolerance) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for at := 0; at < len(want); at += e.Size {
			x, reference := e.Load(got[at:]), e.Load(want[at:])
			deviation, relative := x-reference, 0.0
			switch {
			case !e.Float:
				if distance := e.Distance(got[at:], want[at:]); distance > 0 {
					relative = 1 + distance // none is allowed
				}
			case same(x, reference):
			case math.IsNaN(deviation):
				relative = math.Inf(1)
			case deviation != 0:
				relative = deviation / (t.Absolute + t.Relative*math.Abs(reference)) // infinite where nothing is allowed
			}
			if !yield(relative) {
				return
			}
		}
	}
}
