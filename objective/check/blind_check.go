package check

import (
	"fmt"
	"math"

	"pawl/internal/collect"
	"pawl/kernels/arguments"
	"pawl/kernels/inputs"
)

// BlindError says that the check cannot tell the right answer from a result that takes no work: such a kernel would
// pass, and win. It is a fault of the manifest, not of a point.
type BlindError struct {
	Case   Case
	Result string // what would pass
	Reason string // why, and what to do
}

func (e *BlindError) Error() string { return e.Finding() + "; " + e.Reason }

// Finding is what would pass.
func (e *BlindError) Finding() string {
	return fmt.Sprintf("the check is blind at %s: %s would pass", e.Case.Dims, e.Result)
}

// largestCopy bounds the inputs that are drawn to compare them with an answer, in bytes.
const largestCopy = 256 << 20

// Blind returns an error where a result without work is within the tolerance of the right answer, and is not the
// right answer: zeros, the answer to other inputs, a copy of an input. Other is what the same kernel wrote for another
// seed; nil where there is none. Same is how the right answer says nothing about inputs: zeros, or
// the same as for others.
func (o *Outputs) Blind(c Case, other *Outputs) (same string, err error) {
	zeros := collect.Each(o.answer.want, func(want []byte) []byte { return make([]byte, len(want)) })
	passes, exact, err := o.answer.accepts(zeros)
	if err != nil || passes && !exact {
		return "", o.blind(c, "a kernel that writes zeros", err)
	}
	if exact {
		same = "zeros"
	}
	if other != nil {
		passes, exact, err := o.answer.accepts(other.answer.want)
		if err != nil || passes && !exact {
			return same, o.blind(c, "a kernel that never reads its inputs", err)
		}
		if exact && same == "" && len(o.answer.kernel.Arguments.Drawn()) > 0 {
			same = "the same"
		}
	}
	copies, name, err := o.copies(c)
	if copies == nil || err != nil {
		return same, err
	}
	if passes, exact, err := o.answer.accepts(copies); err != nil || passes && !exact {
		return same, o.blind(c, "a kernel that copies "+name, err)
	}
	return same, nil
}

// accepts reports whether outputs are within the tolerance, and whether they are the right answer itself.
func (a Answer) accepts(outputs [][]byte) (passes, exact bool, err error) {
	mismatch, err := a.Compare(outputs)
	if err != nil || mismatch != nil {
		return false, false, err
	}
	a.bounds = make([]arguments.Tolerance, len(a.bounds))
	mismatch, err = a.Compare(outputs)
	return true, mismatch == nil, err
}

// copies returns, for each output, the content of the first input of its type and size; nil where an output has none.
func (o *Outputs) copies(c Case) (copies [][]byte, name string, err error) {
	source := inputs.Source{Folder: o.answer.kernel.Dir}
	for i, output := range o.answer.kernel.Arguments.Outputs() {
		size := len(o.answer.want[i])
		var input *arguments.Binding
		for _, b := range o.arguments {
			filled := !b.Out || b.Restored
			if input == nil && filled && b.Fields == nil && b.Type == output.Element.Name && b.Bytes() == size {
				input = &b
			}
		}
		if input == nil || size > largestCopy {
			return nil, "", nil
		}
		content := make([]byte, size)
		if err := source.Fill(content, *input, c.Seed); err != nil {
			return nil, "", err
		}
		copies, name = append(copies, content), input.Name
	}
	return copies, name, nil
}

// blind is the error for a result that passes; err if there is one already.
func (o *Outputs) blind(c Case, result string, err error) error {
	if err != nil {
		return err
	}
	for i, output := range o.answer.kernel.Arguments.Outputs() {
		if !output.Element.Float {
			continue
		}
		size := rootMeanSquare(o.answer, i)
		bound, typical := o.answer.bounds[i], arguments.Typical[output.Element.Name]
		advice := fmt.Sprintf("state a tolerance that fits, such as {atol: %.1g, rtol: %g}", size*typical.Absolute,
			typical.Relative)
		if size*typical.Absolute > 0.9*bound.Absolute && typical.Relative >= bound.Relative { // that is no tighter
			advice = "give the inputs values for which the right answer differs from that (fill, range)"
		}
		return &BlindError{c, result, fmt.Sprintf("values of %s are about %.2g, and the tolerance is atol %.2g and rtol "+
			"%.2g: %s", output.Name, size, bound.Absolute, bound.Relative, advice)}
	}
	return nil // integers are exact
}

// rootMeanSquare is the size of the values of an output.
func rootMeanSquare(a Answer, i int) float64 {
	e, sum := a.kernel.Arguments.Outputs()[i].Element, 0.0
	for at := 0; at < len(a.want[i]); at += e.Size {
		x := e.Load(a.want[i][at:])
		sum += x * x
	}
	return math.Sqrt(sum / float64(max(len(a.want[i])/e.Size, 1)))
}
